// LeaveGroup: members leave a classic group at once. One member up to version 2, a list from 3 (KIP-345).
import { api, array, int16, int32, string } from '../wire/index.js'

export const LeaveGroup = api({
  name: 'LeaveGroup',
  key: 13,
  versions: '0-5',
  flexible: '4+',
  request: {
    groupId: string,
    memberId: string.in('0-2'),
    members: array({
      memberId: string,
      groupInstanceId: string.nullable().default(null),
      reason: string.in('5+').nullable('5+').default(null).ignorable(),
    }).in('3+'),
  },
  response: {
    throttleTimeMs: int32.in('1+').ignorable(),
    errorCode: int16,
    members: array({
      memberId: string,
      groupInstanceId: string.nullable(),
      errorCode: int16,
    }).in('3+'),
  },
})
