// The stream of records of a set of partitions, for a Consumer and a GroupMember alike: positions, fetching, decoding, order.
// Knows no group and commits nothing; whoever owns it decides what is assigned and what is done.
import type { Clock } from '../../util/clock.js'
import type { Cluster } from '../cluster/cluster.js'
import type { ConsumerBatch, ConsumerRecord, RecordSerdes } from './consumer-record.js'
import type { Isolation, OffsetLookup } from './offset-lookup.js'
import type { OutOfRangePolicy, Position, StartPosition, TopicPartition } from './positions.js'

export interface FetchConfig {
  readonly minBytes: number
  readonly maxBytes: number
  readonly maxPartitionBytes: number
  readonly maxWaitMs: number
  readonly prefetchBytes: number
  readonly isolation: Isolation
  readonly outOfRange: OutOfRangePolicy
}

export interface FeedParts {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly lookup: OffsetLookup
  readonly config: FetchConfig
  /** How keys and values of a topic are decoded. */
  readonly serdesOf: (topic: string) => RecordSerdes
  /** Called by `record.done()`. */
  readonly onDone?: ((record: ConsumerRecord<unknown, unknown>) => void) | undefined
  readonly listener: FeedListener
}

/** What the feed tells its owner, who shows it to the user. */
export interface FeedListener {
  /** Something failed and is tried again after `delayMs`. */
  retry(event: FetchRetryEvent): void
  /** The position was not in the log, or the topic was created anew, and was moved by the policy. */
  reset(event: PositionResetEvent): void
}

export interface FetchRetryEvent extends TopicPartition {
  readonly broker: number
  readonly error: Error
  readonly delayMs: number
}

export interface PositionResetEvent extends TopicPartition {
  readonly reason: 'OFFSET_OUT_OF_RANGE' | 'TOPIC_RECREATED'
  readonly from: number
  readonly to: number
}

export interface AssignedPartition extends TopicPartition {
  readonly start: StartPosition
  /** Of a committed offset; -1 or left out: not known. */
  readonly leaderEpoch?: number | undefined
  /** Stop before this offset. */
  readonly end?: number | undefined
  readonly isPaused?: boolean | undefined
}

export interface BatchLimits {
  readonly maxRecords: number
  readonly maxBytes: number
}

export declare class RecordFeed {
  constructor(parts: FeedParts)

  /** Adds partitions; those it has already are left as they are. Fetching begins at once. */
  assign(partitions: readonly AssignedPartition[]): void
  /** Takes partitions away: what is buffered of them is dropped, and what still comes for them too. */
  revoke(partitions: readonly TopicPartition[]): void
  has(partition: TopicPartition): boolean
  partitions(): TopicPartition[]

  /** Moves a partition; wins over a start position still being looked up. Throws NOT_ASSIGNED for one it does not have. */
  seek(partition: TopicPartition, to: StartPosition): void
  /** Pausing keeps what is buffered. Throws NOT_ASSIGNED. */
  pause(partitions: readonly TopicPartition[]): void
  resume(partitions: readonly TopicPartition[]): void
  isPaused(partition: TopicPartition): boolean

  /** The next record to be given out; undefined while it is being looked up or when the partition is not here. */
  position(partition: TopicPartition): Position | undefined
  /** Resolves when every assigned partition has a position; rejects with what hinders it, or by the deadline. */
  positioned(deadline: import('../../util/deadline.js').Deadline): Promise<void>

  /**
   * The next record if one is buffered. Its partition's position is then behind it.
   * Throws what hinders a partition (a corrupt batch, no authorization, a position out of range under 'error'); each failure is thrown once,
   * then the partition is fetched again after a backoff.
   */
  next(): ConsumerRecord<unknown, unknown> | undefined
  /** The same for up to so many records of one partition. */
  nextBatch(limits: BatchLimits): ConsumerBatch<ConsumerRecord<unknown, unknown>> | undefined
  /** The record or batch given out last is given out again, unless its partition was revoked or moved since. */
  unread(): void
  /** Resolves when next() may have something (or a failure), when wake() is called, when all partitions reached their end, and on close. */
  wait(): Promise<void>
  wake(): void
  /** Every partition has an end and has reached it. */
  readonly isFinished: boolean
  readonly isClosed: boolean
  /** Drops everything and ends all waits. The cluster stays open: it is its owner's. */
  close(): void
}
