// What kafka.groups() of the broker handle shows of a group: plain values, a copy of the moment.
import { ConsumerProtocolAssignment } from '../../protocol/messages/consumer-protocol.js'
import { Reader } from '../../protocol/wire/index.js'
import type { ClusterState } from '../cluster-state.js'
import type { Member } from './classic-group.js'
import type { Groups } from './groups.js'
import type { LiveGroup } from './live-group.js'

/** A group at its coordinator. */
export interface GroupSnapshot {
  readonly group: string
  readonly state: 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable'
  /** `consumer` for consumers; empty for a group that only committed offsets. */
  readonly protocolType: string
  /** The assignor the members agreed on; null unless they have. */
  readonly protocol: string | null
  readonly generation: number
  readonly leader: string | null
  /** Id of the broker that coordinates the group. */
  readonly coordinator: number
  readonly members: readonly GroupMemberSnapshot[]
  readonly offsets: readonly GroupOffsetSnapshot[]
}

/** A member of a group. */
export interface GroupMemberSnapshot {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly host: string
  /** Empty when the assignment is not in the consumers' format. */
  readonly assignment: readonly { readonly topic: string; readonly partition: number }[]
}

/** What a group committed for a partition. */
export interface GroupOffsetSnapshot {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
  /** Milliseconds since the Unix epoch. */
  readonly committedAt: number
  /** Records from the committed offset to the end of the partition. */
  readonly lag: number
}

/** All groups of the cluster, by name. */
export function snapshotGroups(groups: Groups): GroupSnapshot[] {
  return groups
    .list()
    .flatMap((group) => snapshot(group, groups.cluster) ?? [])
    .sort((a, b) => (a.group < b.group ? -1 : 1))
}

function snapshot(group: LiveGroup, cluster: ClusterState): GroupSnapshot | undefined {
  const { state } = group
  if (state.kind === 'Dead') return undefined
  const hasMembers = state.kind !== 'Empty'
  return {
    group: group.groupId,
    state: state.kind,
    protocolType: state.protocolType ?? '',
    protocol: 'protocol' in state ? state.protocol : null,
    generation: state.generation,
    leader: hasMembers ? state.leader : null,
    coordinator: group.brokerId,
    members: hasMembers ? [...state.members.values()].map(memberSnapshot) : [],
    offsets: offsetSnapshots(group, cluster),
  }
}

function memberSnapshot({ memberId, instanceId, clientId, clientHost, assignment }: Member): GroupMemberSnapshot {
  return { memberId, groupInstanceId: instanceId, clientId, host: clientHost, assignment: partitionsOf(assignment) }
}

function partitionsOf(assignment: Uint8Array): GroupMemberSnapshot['assignment'] {
  if (assignment.length === 0) return []
  try {
    const reader = new Reader(Buffer.from(assignment.buffer, assignment.byteOffset, assignment.byteLength))
    reader.int16()
    return ConsumerProtocolAssignment.read(reader, 0).assignedPartitions.flatMap(({ topic, partitions }) =>
      partitions.map((partition) => ({ topic, partition })),
    )
  } catch {
    return [] // another kind of group (Connect, say) with a format of its own
  }
}

function offsetSnapshots({ stored }: LiveGroup, cluster: ClusterState): GroupOffsetSnapshot[] {
  const offsets: GroupOffsetSnapshot[] = []
  for (const [topic, partitions] of stored.offsets.topics())
    for (const [partition, { offset, leaderEpoch, metadata, committedAt }] of partitions) {
      const end = cluster.partition(topic, partition)?.log.endOffset ?? offset
      offsets.push({ topic, partition, offset, leaderEpoch, metadata, committedAt, lag: Math.max(0, end - offset) })
    }
  return offsets.sort((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1))
}
