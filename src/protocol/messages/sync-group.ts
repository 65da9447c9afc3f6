// SyncGroup: the leader hands in everyone's assignment, and each member gets its own.
import { api, array, bytes, int16, int32, string } from '../wire/index.js'

export const SyncGroup = api({
  name: 'SyncGroup',
  key: 14,
  versions: '0-5',
  flexible: '4+',
  request: {
    groupId: string,
    generationId: int32,
    memberId: string,
    groupInstanceId: string.in('3+').nullable('3+').default(null),
    // KIP-559: checked against the group's, so that the broker can tell what kind of group it is.
    protocolType: string.in('5+').nullable('5+').default(null).ignorable(),
    protocolName: string.in('5+').nullable('5+').default(null).ignorable(),
    assignments: array({ memberId: string, assignment: bytes }),
  },
  response: {
    throttleTimeMs: int32.in('1+').ignorable(),
    errorCode: int16,
    protocolType: string.in('5+').nullable('5+').default(null).ignorable(),
    protocolName: string.in('5+').nullable('5+').default(null).ignorable(),
    assignment: bytes,
  },
})
