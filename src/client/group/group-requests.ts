// The requests of a classic group member, with the group's name and settings filled in. Errors of the way to the coordinator (moved,
// loading, out of reach) are retried below, in the cluster; what the coordinator says of the member reaches the caller.
import type { KafkaError } from '../../errors.js'
import { errorByCode, toKafkaError } from '../../protocol/messages/error-table.js'
import { Heartbeat } from '../../protocol/messages/heartbeat.js'
import { JoinGroup } from '../../protocol/messages/join-group.js'
import { LeaveGroup } from '../../protocol/messages/leave-group.js'
import { SyncGroup } from '../../protocol/messages/sync-group.js'
import type { ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'
import { CONSUMER_PROTOCOL } from '../../protocol/assignment/member-data.js'

/** Joins and syncs are parked by the broker until the whole group is there: on a connection of their own they hold nothing up. */
const PARKED = 'join'

/** What a join may take longer than the broker's limit for it: the way there and back. */
const JOIN_SLACK_MS = 5000

export interface GroupIdentity {
  readonly group: string
  readonly instanceId: string | undefined
  readonly sessionTimeoutMs: number
  /** How long the others wait for this member in a rebalance. */
  readonly rebalanceTimeoutMs: number
}

/** Who the member is to the coordinator; -1 and '' outside the group. */
export interface Standing {
  readonly memberId: string
  readonly generation: number
}

export interface JoinProtocol {
  readonly name: string
  readonly metadata: Buffer
}

export class GroupRequests {
  readonly #cluster: Cluster
  readonly #identity: GroupIdentity

  constructor(cluster: Cluster, identity: GroupIdentity) {
    this.#cluster = cluster
    this.#identity = identity
  }

  get groupInstanceId(): string | null {
    return this.#identity.instanceId ?? null
  }

  /** The answer as it came, errors inside: MEMBER_ID_REQUIRED carries the id to join with. */
  join(
    memberId: string,
    protocols: readonly JoinProtocol[],
    reason: string,
    deadline: Deadline,
  ): Promise<ResponseOf<typeof JoinGroup>> {
    const { group, sessionTimeoutMs, rebalanceTimeoutMs } = this.#identity
    const request = {
      groupId: group,
      sessionTimeoutMs,
      rebalanceTimeoutMs,
      memberId,
      groupInstanceId: this.groupInstanceId,
      protocolType: CONSUMER_PROTOCOL,
      protocols,
      reason,
    }
    return this.#cluster.sendToCoordinator(group, JoinGroup, request, {
      deadline,
      channel: PARKED,
      timeoutMs: rebalanceTimeoutMs + JOIN_SLACK_MS,
      what: `joining group ${group}`,
    })
  }

  sync(
    { memberId, generation }: Standing,
    protocol: string,
    assignments: readonly { readonly memberId: string; readonly assignment: Buffer }[],
    deadline: Deadline,
  ): Promise<ResponseOf<typeof SyncGroup>> {
    const { group, rebalanceTimeoutMs } = this.#identity
    const request = {
      groupId: group,
      generationId: generation,
      memberId,
      groupInstanceId: this.groupInstanceId,
      protocolType: CONSUMER_PROTOCOL,
      protocolName: protocol,
      assignments,
    }
    return this.#cluster.sendToCoordinator(group, SyncGroup, request, {
      deadline,
      channel: PARKED,
      timeoutMs: rebalanceTimeoutMs + JOIN_SLACK_MS,
      what: `synchronising with group ${group}`,
    })
  }

  /** Resolves when the coordinator took it; throws what it says of the member. */
  async heartbeat({ memberId, generation }: Standing, deadline: Deadline): Promise<void> {
    const { group } = this.#identity
    const what = `the heartbeat to group ${group}`
    const request = { groupId: group, generationId: generation, memberId, groupInstanceId: this.groupInstanceId }
    const { errorCode } = await this.#cluster.sendToCoordinator(group, Heartbeat, request, { deadline, what })
    if (errorCode !== 0) throw this.refusal(errorCode, what)
  }

  /** A member that the coordinator does not know any more has left, too. */
  async leave(memberId: string, reason: string, deadline: Deadline): Promise<void> {
    const { group } = this.#identity
    const what = `leaving group ${group}`
    const members = [{ memberId, groupInstanceId: this.groupInstanceId, reason }]
    const response = await this.#cluster.sendToCoordinator(
      group,
      LeaveGroup,
      (version) => (version < 3 ? { groupId: group, memberId } : { groupId: group, members }),
      { deadline, what },
    )
    const errorCode = response.errorCode || response.members[0]?.errorCode || 0
    if (errorCode !== 0 && errorByCode(errorCode).name !== 'UNKNOWN_MEMBER_ID') throw this.refusal(errorCode, what)
  }

  refusal(errorCode: number, what: string): KafkaError {
    return toKafkaError(errorCode, { what })
  }
}
