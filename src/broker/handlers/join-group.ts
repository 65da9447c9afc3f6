// JoinGroup, versions 0-9: as Apache Kafka's classic coordinator. Version 0 has no rebalance timeout, the session timeout counts
// (KAFKA-8653); a new dynamic member is sent back with an id from version 4 (KIP-394); static members from 5 (KIP-345).
import { randomUUID } from 'node:crypto'
import { errorCodes } from '../../protocol/messages/error-table.js'
import { JoinGroup } from '../../protocol/messages/join-group.js'
import type { ResponseInput } from '../../protocol/wire/index.js'
import type { JoinReply } from '../groups/classic-group.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

export const joinGroupHandler = (groups: Groups) =>
  handler(JoinGroup, (request, { broker, cluster, clientId, connection, version }) => {
    const { groupId, memberId, groupInstanceId, sessionTimeoutMs } = request
    const { config } = cluster
    if (groupId === '') return refusal('INVALID_GROUP_ID', memberId, version)
    const isTooShort = sessionTimeoutMs < config.int('group.min.session.timeout.ms')
    if (isTooShort || sessionTimeoutMs > config.int('group.max.session.timeout.ms'))
      return refusal('INVALID_SESSION_TIMEOUT', memberId, version)
    const error = groups.coordinatorError(groupId, broker.id)
    if (error !== 'NONE') return refusal(error, '', version)
    if (memberId !== '' && !groups.get(groupId)) return refusal('UNKNOWN_MEMBER_ID', memberId, version)

    const reply = groups.getOrCreate(groupId).request<JoinReply>((ticket) => ({
      kind: 'join',
      ticket,
      memberId,
      newMemberId: `${groupInstanceId ?? clientId ?? ''}-${randomUUID()}`,
      instanceId: groupInstanceId,
      clientId: clientId ?? '',
      clientHost: connection.clientHost,
      sessionTimeoutMs,
      rebalanceTimeoutMs: version === 0 ? sessionTimeoutMs : request.rebalanceTimeoutMs,
      protocolType: request.protocolType,
      // Copied: a view would keep the whole request in memory.
      protocols: request.protocols.map(({ name, metadata }) => ({ name, metadata: Buffer.from(metadata) })),
      requiresKnownMemberId: version >= 4,
      canSkipAssignment: version >= 9,
      reason: request.reason,
      limits: { maxSize: config.int('group.max.size'), initialDelayMs: config.int('group.initial.rebalance.delay.ms') },
    }))
    return reply instanceof Promise ? reply.then((late) => answer(late, version)) : answer(reply, version)
  })

type Response = ResponseInput<typeof JoinGroup>

function answer(reply: JoinReply, version: number): Response {
  return {
    errorCode: errorCodes[reply.error],
    generationId: reply.generation,
    protocolType: reply.protocolType,
    protocolName: nameOf(reply.protocol, version),
    leader: reply.leader,
    skipAssignment: reply.skipAssignment,
    memberId: reply.memberId,
    members: reply.members.map(({ memberId, instanceId, metadata }) => ({
      memberId,
      groupInstanceId: instanceId,
      metadata,
    })),
  }
}

function refusal(error: JoinReply['error'], memberId: string, version: number): Response {
  return { errorCode: errorCodes[error], protocolName: nameOf(null, version), leader: '', memberId, members: [] }
}

/** Null from version 7; before, there is only the empty name. */
function nameOf(protocol: string | null, version: number): string | null {
  return version < 7 ? (protocol ?? '') : protocol || null
}
