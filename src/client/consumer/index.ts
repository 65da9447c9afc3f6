// What the public entry and the group build on.
export { Consumer, type ConsumerEvents, type OffsetAtTime } from './consumer.js'
export {
  fetchOptions,
  policyOf,
  topicsCheck,
  type ConsumerOptions,
  type FetchOptions,
  type PartitionOf,
} from './consumer-options.js'
export { ConsumerBatch, ConsumerRecord, type AnyRecord, type FeedSource, type RecordSerdes } from './consumer-record.js'
export {
  batchesConfig,
  batchSource,
  recordSource,
  type BatchesConfig,
  type BatchesOptions,
} from './consumer-sources.js'
export type { FetchConfig } from './fetcher.js'
export { OffsetLookup, type FoundOffset, type Isolation, type OffsetQuestion } from './offset-lookup.js'
export type { PositionResetEvent } from './placement.js'
export {
  isStartPosition,
  nameOf,
  outOfRangePolicy,
  startPosition,
  startPositionText,
  type Ago,
  type OutOfRangePolicy,
  type Position,
  type StartPosition,
  type TopicPartition,
} from './positions.js'
export { PullIterator, type PullSource } from './pull-iterator.js'
export { RecordFeed, type AssignedPartition, type BatchLimits, type FeedParts } from './record-feed.js'
export { recordSerdes, type ConsumerRecordOf } from './record-serdes.js'
export type { PartitionLag } from './lag.js'
