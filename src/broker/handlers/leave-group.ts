// LeaveGroup, versions 0-5: as Apache Kafka's. One member up to version 2, whose error stands at the top; a list from 3, each
// with its own, and static members may be named by their instance alone (KIP-345).
import { errorCodes } from '../../protocol/messages/error-table.js'
import { LeaveGroup } from '../../protocol/messages/leave-group.js'
import type { ResponseInput } from '../../protocol/wire/index.js'
import type { LeaveReply } from '../groups/classic-group.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

type Outcome = Pick<LeaveReply, 'error' | 'members'>

export const leaveGroupHandler = (groups: Groups) =>
  handler(LeaveGroup, (request, { broker, version }) => {
    const { groupId } = request
    const answerOf = (reply: Outcome) => answer(reply, version)
    if (groupId === '') return answerOf({ error: 'INVALID_GROUP_ID', members: [] })
    const error = groups.coordinatorError(groupId, broker.id)
    if (error !== 'NONE') return answerOf({ error, members: [] })
    const listed = version < 3 ? [{ memberId: request.memberId, groupInstanceId: null, reason: null }] : request.members
    const members = listed.map(({ memberId, groupInstanceId, reason }) => ({
      memberId,
      instanceId: groupInstanceId,
      reason,
    }))
    const group = groups.get(groupId)
    if (!group) {
      const unknown = members.map((member) => ({ ...member, error: 'UNKNOWN_MEMBER_ID' as const }))
      return answerOf({ error: 'NONE', members: unknown })
    }
    const reply = group.request<LeaveReply>((ticket) => ({ kind: 'leave', ticket, members }))
    return reply instanceof Promise ? reply.then(answerOf) : answerOf(reply)
  })

function answer({ error, members }: Outcome, version: number): ResponseInput<typeof LeaveGroup> {
  if (version < 3) return { errorCode: errorCodes[error === 'NONE' ? (members[0]?.error ?? error) : error] }
  return {
    errorCode: errorCodes[error],
    members: members.map(({ memberId, instanceId, error }) => ({
      memberId,
      groupInstanceId: instanceId,
      errorCode: errorCodes[error],
    })),
  }
}
