// Heartbeat: keeps a classic member's session alive, and tells it of a rebalance by REBALANCE_IN_PROGRESS.
import { api, int16, int32, string } from '../wire/index.js'

export const Heartbeat = api({
  name: 'Heartbeat',
  key: 12,
  versions: '0-4',
  flexible: '4+',
  request: {
    groupId: string,
    generationId: int32,
    memberId: string,
    groupInstanceId: string.in('3+').nullable('3+').default(null),
  },
  response: {
    throttleTimeMs: int32.in('1+').ignorable(),
    errorCode: int16,
  },
})
