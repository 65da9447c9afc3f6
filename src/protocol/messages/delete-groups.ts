// DeleteGroups: remove groups without members, and their committed offsets (KIP-229).
import { api, array, int16, int32, string } from '../wire/index.js'

export const DeleteGroups = api({
  name: 'DeleteGroups',
  key: 42,
  versions: '0-3',
  flexible: '2+',
  request: {
    groupsNames: array(string),
  },
  response: {
    throttleTimeMs: int32,
    results: array({
      groupId: string,
      errorCode: int16,
      errorMessage: string.in('3+').nullable('3+').default(null).ignorable(),
    }),
  },
})
