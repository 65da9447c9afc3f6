// What a GroupMember tells its user.
import type { KafkaError } from '../../errors.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'
import type { ClusterEvents } from '../cluster/index.js'
import type { PositionResetEvent } from '../consumer/placement.js'
import type { CommittedOffset } from './committed-offsets.js'
import type { ClassicStateName } from './membership/classic.js'

export interface AssignmentEvent {
  readonly partitions: readonly TopicPartition[]
}

/** What a member is doing, in the words of docs/design/groups.md. */
export type MemberState = ClassicStateName

export interface GroupMemberEvents extends ClusterEvents {
  /** Partitions are this member's from now on. Awaited before their first record: seek and pause here. */
  assigned: AssignmentEvent
  /** Partitions are about to be given up in good order. Awaited, then what is done is committed, then others get them. */
  revoked: AssignmentEvent
  /** Partitions are gone: others may read them already. Nothing of them is committed any more. */
  lost: AssignmentEvent
  state: { readonly from: MemberState; readonly to: MemberState }
  committed: { readonly offsets: readonly CommittedOffset[] }
  /** A commit that was not asked for by commit() failed; it is tried again with the next one. */
  commitFailed: { readonly error: KafkaError }
  /** The position of a partition was not in its log and was moved, by the policy outOfRange. */
  reset: PositionResetEvent
  /** A handler had its record for longer than maxProcessingMs: the member left the group, and joins again when it asks for the next one. */
  stalled: { readonly maxProcessingMs: number }
}
