// DescribeGroups: state and members of classic groups.
// An unknown group is a Dead one up to version 5, GROUP_ID_NOT_FOUND from 6 (KIP-1043).
import { api, array, bool, bytes, int16, int32, string } from '../wire/index.js'
import { noAuthorizedOperations } from './metadata.js'

export const DescribeGroups = api({
  name: 'DescribeGroups',
  key: 15,
  versions: '0-6',
  flexible: '5+',
  request: {
    groups: array(string),
    includeAuthorizedOperations: bool.in('3+'),
  },
  response: {
    throttleTimeMs: int32.in('1+').ignorable(),
    groups: array({
      errorCode: int16,
      errorMessage: string.in('6+').nullable('6+').default(null),
      groupId: string,
      groupState: string,
      protocolType: string,
      protocolData: string,
      members: array({
        memberId: string,
        groupInstanceId: string.in('4+').nullable('4+').default(null).ignorable(),
        clientId: string,
        clientHost: string,
        memberMetadata: bytes,
        memberAssignment: bytes,
      }),
      authorizedOperations: int32.in('3+').default(noAuthorizedOperations),
    }),
  },
})
