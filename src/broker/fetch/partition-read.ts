// What a fetch asks of one partition, and what was read for it.
import type { Partition } from '../topic.js'

export interface PartitionFetch {
  /** '' when the client named the topic by id and the id is unknown. */
  readonly topic: string
  /** The zero id when the client named the topic by name. */
  readonly topicId: string
  readonly partition: number
  fetchOffset: number
  maxBytes: number
  currentLeaderEpoch: number
  lastFetchedEpoch: number
}

export interface PartitionRead {
  readonly fetch: PartitionFetch
  readonly errorCode: number
  /** The partition that the error is about, when it exists. */
  readonly partition: Partition | undefined
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStartOffset: number
  readonly divergingEpoch: { readonly epoch: number; readonly endOffset: number } | undefined
  readonly chunks: readonly Buffer[]
  readonly bytes: number
}

/** The error that a fault puts in a partition's place. */
export type ErrorFor = (topic: string, partition: number) => number | undefined
