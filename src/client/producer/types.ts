// The shapes that callers of send() see: messages in, where they ended up out.
import type { KafkaError } from '../../errors.js'
import type { HeadersInput } from '../../protocol/records/batch-builder.js'
import type { KeyInputOf, TopicLike, ValueInputOf } from '../serde/index.js'

/** One message for a topic that is named beside it. */
export interface Message<T extends TopicLike = string> {
  /** Decides the partition, unless one is given. `null` or left out: no key; empty is a key. */
  readonly key?: KeyInputOf<T> | null | undefined
  /** `null` is a tombstone; empty is a value. */
  readonly value: ValueInputOf<T> | null
  /** Where to write it. @default what the partitioner says */
  readonly partition?: number | undefined
  /** In order, duplicates allowed; or an object of names and values. */
  readonly headers?: HeadersInput | undefined
  /** Milliseconds since 1970, or a Date. @default now */
  readonly timestamp?: number | Date | undefined
}

/** A message with its topic. */
export interface ProducerRecord<T extends TopicLike = TopicLike> extends Message<T> {
  readonly topic: T
}

/** Where a record is. */
export interface RecordMetadata {
  readonly topic: string
  readonly partition: number
  /** -1 when the broker does not tell: with acks 0, and for a batch it had already. */
  readonly offset: number
  /** The record's own, or the time of appending where the topic is configured so; milliseconds since 1970. */
  readonly timestamp: number
}

/** What became of one record of a send() with an array. */
export type SendOutcome =
  | { readonly status: 'fulfilled'; readonly value: RecordMetadata }
  | { readonly status: 'rejected'; readonly reason: KafkaError }
