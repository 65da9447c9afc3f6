// Heartbeat, versions 0-4: as Apache Kafka's classic coordinator. It renews the session during a rebalance too (T56).
import { errorCodes } from '../../protocol/messages/error-table.js'
import { Heartbeat } from '../../protocol/messages/heartbeat.js'
import type { ResponseInput } from '../../protocol/wire/index.js'
import type { HeartbeatReply } from '../groups/classic-group.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

export const heartbeatHandler = (groups: Groups) =>
  handler(Heartbeat, (request, { broker }) => {
    const { groupId } = request
    if (groupId === '') return answer({ error: 'INVALID_GROUP_ID' })
    const error = groups.coordinatorError(groupId, broker.id)
    if (error !== 'NONE') return answer({ error })
    const group = groups.get(groupId)
    if (!group) return answer({ error: 'UNKNOWN_MEMBER_ID' })

    const reply = group.request<HeartbeatReply>((ticket) => ({
      kind: 'heartbeat',
      ticket,
      memberId: request.memberId,
      instanceId: request.groupInstanceId,
      generation: request.generationId,
    }))
    return reply instanceof Promise ? reply.then(answer) : answer(reply)
  })

function answer({ error }: Pick<HeartbeatReply, 'error'>): ResponseInput<typeof Heartbeat> {
  return { errorCode: errorCodes[error] }
}
