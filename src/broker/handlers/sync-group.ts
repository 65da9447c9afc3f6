// SyncGroup, versions 0-5: as Apache Kafka's. From version 5 protocol type and name must be there and be the group's (KIP-559).
import { errorCodes } from '../../protocol/messages/error-table.js'
import { SyncGroup } from '../../protocol/messages/sync-group.js'
import type { ResponseInput } from '../../protocol/wire/index.js'
import { noBytes, type SyncReply } from '../groups/classic-group.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

export const syncGroupHandler = (groups: Groups) =>
  handler(SyncGroup, (request, { broker, version }) => {
    const { groupId, protocolType, protocolName } = request
    if (version >= 5 && (protocolType === null || protocolName === null)) return refusal('INCONSISTENT_GROUP_PROTOCOL')
    if (groupId === '') return refusal('INVALID_GROUP_ID')
    const error = groups.coordinatorError(groupId, broker.id)
    if (error !== 'NONE') return refusal(error)
    const group = groups.get(groupId)
    if (!group) return refusal('UNKNOWN_MEMBER_ID')

    const reply = group.request<SyncReply>((ticket) => ({
      kind: 'sync',
      ticket,
      memberId: request.memberId,
      instanceId: request.groupInstanceId,
      generation: request.generationId,
      protocolType,
      protocol: protocolName,
      assignments: new Map(
        request.assignments.map(({ memberId, assignment }) => [memberId, Buffer.from(assignment)] as const),
      ),
    }))
    return reply instanceof Promise ? reply.then(answer) : answer(reply)
  })

type Response = ResponseInput<typeof SyncGroup>

function answer({ error, protocolType, protocol, assignment }: SyncReply): Response {
  return { errorCode: errorCodes[error], protocolType, protocolName: protocol, assignment }
}

function refusal(error: SyncReply['error']): Response {
  return { errorCode: errorCodes[error], assignment: noBytes }
}
