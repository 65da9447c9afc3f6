// A topic with the types of its keys and values, and what follows from it: the type of a message to send, of a record read.
import { UsageError } from '../../errors.js'
import { shown } from '../../util/options.js'
import { rawSerde, type Serde } from './serde.js'

/**
 * A topic typed once and used on both sides; made by {@link topic}.
 *
 * @typeParam K what keys are sent as
 * @typeParam V what values are sent as
 * @typeParam KeyOut what keys are read as
 * @typeParam ValueOut what values are read as
 */
export interface Topic<K, V, KeyOut = K, ValueOut = V> {
  readonly name: string
  readonly key: Serde<K, KeyOut>
  readonly value: Serde<V, ValueOut>
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the top of all topics, whatever their types
export type AnyTopic = Topic<any, any, any, any>

/** A topic by its name (text or bytes in, Buffers out), or with its types. */
export type TopicLike = string | AnyTopic

/** What a key, value or header value may be sent as when no serde says otherwise. */
export type Bytes = string | Uint8Array

/** A key and value as a record of the topic has them when read. Tombstones are in the type if declared with `nullable()`. */
export interface RecordOf<T extends TopicLike> {
  readonly key: KeyOf<T> | null
  readonly value: ValueOf<T>
}

/** What keys of the topic are read as (besides null, for a record without a key). */
export type KeyOf<T extends TopicLike> = T extends Topic<infer _K, infer _V, infer Out, infer _W> ? Out : Buffer

/** What values of the topic are read as. */
export type ValueOf<T extends TopicLike> =
  T extends Topic<infer _K, infer _V, infer _O, infer Out> ? Out : Buffer | null

/** What keys of the topic are sent as. */
export type KeyInputOf<T extends TopicLike> = T extends Topic<infer In, infer _V, infer _O, infer _W> ? In : Bytes

/** What values of the topic are sent as. */
export type ValueInputOf<T extends TopicLike> = T extends Topic<infer _K, infer In, infer _O, infer _W> ? In : Bytes

export interface TopicSerdes<K, V, KeyOut, ValueOut> {
  /** How keys are written and read. @default text or bytes in, a Buffer out */
  readonly key?: Serde<K, KeyOut> | undefined
  /** How values are written and read. @default text or bytes in, a Buffer out */
  readonly value?: Serde<V, ValueOut> | undefined
}

/**
 * Types a topic; nothing is sent or created by it.
 *
 * @example
 * const orders = topic('orders', { key: string(), value: json<Order>() })
 * await producer.send(orders, { key: 'c-7', value: { id: 1, total: 12 } })
 *
 * @throws UsageError (INVALID_ARGUMENT) for a name that Kafka does not allow
 */
export function topic<K = Bytes, V = Bytes, KeyOut = ReadAs<K>, ValueOut = ReadAs<V, null>>(
  name: string,
  serdes: TopicSerdes<K, V, KeyOut, ValueOut> = {},
): Topic<K, V, KeyOut, ValueOut> {
  checkTopicName(name)
  const { key, value } = serdes
  return {
    name,
    key: key ?? (rawSerde as unknown as Serde<K, KeyOut>),
    value: value ?? (rawSerde as unknown as Serde<V, ValueOut>),
  }
}

/** What a key or value without a serde is read as. */
type ReadAs<In, Absent = never> = Bytes extends In ? Buffer | Absent : In

/** Kafka's rule for topic names. */
function checkTopicName(name: unknown): asserts name is string {
  if (typeof name === 'string' && /^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..') return
  throw new UsageError(
    `a topic name is 1-249 of a-z, A-Z, 0-9, '.', '_', '-' (and not '.' or '..'), got ${shown(name)}`,
  )
}

/** The name of a topic given either way; throws UsageError when it is neither. */
export function topicName(given: TopicLike): string {
  const name: unknown = typeof given === 'object' && given !== null ? given.name : given
  checkTopicName(name)
  return name
}
