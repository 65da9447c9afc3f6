// What chooses the partition of a record that does not name one.
import type { BytesInput } from '../../../protocol/records/batch-builder.js'

/** What is known of a topic's partitions. */
export interface PartitionsView {
  readonly topic: string
  readonly count: number
  /** Those that have a leader, ascending. */
  readonly available: readonly number[]
}

/** One topic's chooser; it may remember what it chose. */
export interface Partitioner {
  choose(key: BytesInput, value: BytesInput, partitions: PartitionsView): number
  /** The record of the last choice was written, taking so many bytes. */
  wrote(partition: number, bytes: number): void
}

/** What a partition function is given. */
export interface PartitionRequest {
  readonly topic: string
  /** As its serde wrote it. */
  readonly key: string | Uint8Array | null
  readonly value: string | Uint8Array | null
  readonly partitionCount: number
  /** The partitions that have a leader at the moment, ascending. */
  readonly available: readonly number[]
}

/** A partitioner of one's own: returns a number from 0 to `partitionCount` - 1. */
export type PartitionFunction = (request: PartitionRequest) => number
