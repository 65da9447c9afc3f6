// JoinGroup: enter a classic group or its next generation; answered when all members have joined.
// From version 4 a member without an id gets MEMBER_ID_REQUIRED and an id to join with (KIP-394).
import { api, array, bool, bytes, int16, int32, string } from '../wire/index.js'

export const JoinGroup = api({
  name: 'JoinGroup',
  key: 11,
  versions: '0-9',
  flexible: '6+',
  request: {
    groupId: string,
    sessionTimeoutMs: int32,
    // Version 0 has none: the session timeout counts.
    rebalanceTimeoutMs: int32.in('1+').default(-1).ignorable(),
    memberId: string,
    // Static membership (KIP-345).
    groupInstanceId: string.in('5+').nullable('5+').default(null),
    protocolType: string,
    protocols: array({ name: string, metadata: bytes }),
    reason: string.in('8+').nullable('8+').default(null).ignorable(),
  },
  response: {
    throttleTimeMs: int32.in('2+').ignorable(),
    errorCode: int16,
    generationId: int32.default(-1),
    protocolType: string.in('7+').nullable('7+').default(null).ignorable(),
    protocolName: string.nullable('7+'),
    leader: string,
    // A static leader that came back takes the assignment the group already has (KIP-814).
    skipAssignment: bool.in('9+').default(false),
    memberId: string,
    members: array({
      memberId: string,
      groupInstanceId: string.in('5+').nullable('5+').default(null).ignorable(),
      metadata: bytes,
    }),
  },
})
