// What outlives a coordinator: a group as Kafka writes it to __consumer_offsets, and what a new coordinator makes of that.
import { CommittedOffsets } from './committed-offsets.js'
import { noBytes, type GroupState, type Member } from './classic-group.js'
import { metadataFor, subscribedTopics } from './group-members.js'

export interface GroupRecord {
  readonly generation: number
  readonly protocolType: string | null
  readonly protocol: string | null
  readonly leader: string | null
  /** When the group came into this state, in milliseconds since the Unix epoch. */
  readonly since: number
  /** With the metadata for the agreed protocol only, as Kafka keeps it. */
  readonly members: readonly Member[]
}

export interface StoredGroup {
  record: GroupRecord
  readonly offsets: CommittedOffsets
}

export function newStoredGroup(since: number): StoredGroup {
  return {
    record: { generation: 0, protocolType: null, protocol: null, leader: null, since, members: [] },
    offsets: new CommittedOffsets(),
  }
}

/** The record of a state; undefined for those that Kafka does not write. */
export function recordOf(state: GroupState, since: number): GroupRecord | undefined {
  if (state.kind === 'Empty') {
    const { generation, protocolType } = state
    return { generation, protocolType, protocol: null, leader: null, since, members: [] }
  }
  if (state.kind !== 'Stable') return undefined
  const { generation, protocolType, protocol, leader } = state
  const members = [...state.members.values()].map((member) => ({
    ...member,
    protocols: [{ name: protocol, metadata: metadataFor(member, protocol) ?? noBytes }],
    parked: null,
    isNew: false,
  }))
  return { generation, protocolType, protocol, leader, since, members }
}

/** Members and assignments are as they were written; sessions begin anew, and ids given out but not used are forgotten. */
export function stateFrom({ generation, protocolType, protocol, leader, members }: GroupRecord): GroupState {
  const byId = new Map(members.map((member) => [member.memberId, member]))
  if (protocolType === null || protocol === null || byId.size === 0) {
    const topics = protocolType === null ? null : subscribedTopics(protocolType, '', new Map())
    return { kind: 'Empty', generation, protocolType, pending: new Set(), topics }
  }
  const topics = subscribedTopics(protocolType, protocol, byId)
  return {
    kind: 'Stable',
    generation,
    protocolType,
    protocol,
    leader,
    members: byId,
    pending: new Set(),
    pendingSync: new Set(),
    topics,
  }
}
