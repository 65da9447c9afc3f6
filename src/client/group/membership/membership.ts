// What both group protocols share: the events that happen to a membership, and the effects that its shell performs.
import type { KafkaError } from '../../../errors.js'
import type { TopicPartition } from '../../../protocol/topic-partition.js'

/** Why partitions are given up: in good order, with a commit, or because the group already gave them to others. */
export type Parting = 'revoked' | 'lost'

export interface JoinedMember {
  readonly memberId: string
  readonly instanceId: string | null
  readonly metadata: Buffer
}

export type MembershipEvent =
  | { readonly type: 'start' }
  | {
      readonly type: 'joined'
      readonly memberId: string
      readonly generation: number
      readonly protocol: string
      /** Of the leader: the members to assign for. Of the others undefined. */
      readonly members: readonly JoinedMember[] | undefined
    }
  | { readonly type: 'joinFailed'; readonly error: KafkaError; readonly memberId?: string | undefined }
  | { readonly type: 'synced'; readonly assigned: readonly TopicPartition[] }
  | { readonly type: 'syncFailed'; readonly error: KafkaError }
  /** A heartbeat or a commit of the current generation was refused. */
  | { readonly type: 'refused'; readonly error: KafkaError }
  /** One giveUp effect is done: listeners have returned, commits are through. */
  | { readonly type: 'givenUp' }
  | { readonly type: 'rejoin'; readonly reason: string }
  | { readonly type: 'stalled' }
  | { readonly type: 'resumed' }
  | { readonly type: 'close' }
  | { readonly type: 'left' }

export type Effect =
  | {
      readonly type: 'join'
      readonly memberId: string
      readonly owned: readonly TopicPartition[]
      readonly generation: number
      readonly reason: string
    }
  | {
      readonly type: 'sync'
      readonly memberId: string
      readonly generation: number
      readonly protocol: string
      readonly members: readonly JoinedMember[] | undefined
    }
  | { readonly type: 'startHeartbeats'; readonly memberId: string; readonly generation: number }
  | { readonly type: 'stopHeartbeats' }
  /** Answered by the event givenUp, once for each. */
  | { readonly type: 'giveUp'; readonly partitions: readonly TopicPartition[]; readonly parting: Parting }
  | { readonly type: 'assign'; readonly added: readonly TopicPartition[] }
  /** Ends a join or sync that is under way; its answer is dropped. */
  | { readonly type: 'cancel' }
  /** Answered by the event left when the membership is closing. */
  | { readonly type: 'leave'; readonly memberId: string; readonly reason: string }
  | { readonly type: 'fail'; readonly error: KafkaError }
