// ListGroups: the groups this broker coordinates; empty filters let all through (states KIP-518, types KIP-848).
import { api, array, int16, int32, string } from '../wire/index.js'

export const ListGroups = api({
  name: 'ListGroups',
  key: 16,
  versions: '0-5',
  flexible: '3+',
  request: {
    statesFilter: array(string).in('4+'),
    typesFilter: array(string).in('5+'),
  },
  response: {
    throttleTimeMs: int32.in('1+').ignorable(),
    errorCode: int16,
    groups: array({
      groupId: string,
      protocolType: string,
      groupState: string.in('4+').ignorable(),
      groupType: string.in('5+').ignorable(),
    }),
  },
})
