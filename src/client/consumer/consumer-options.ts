// The options of a Consumer, checked once.
import { UsageError } from '../../errors.js'
import { integer, oneOf, option, optional, resolveOptions, type Check, type Option } from '../../util/options.js'
import { clientOptions, type ClientConfig, type ClientOptions } from '../cluster/index.js'
import { topicName, type TopicLike } from '../serde/index.js'
import type { FetchConfig } from './fetcher.js'
import type { Isolation } from './offset-lookup.js'
import { outOfRangePolicy, startPosition, type OutOfRangePolicy, type StartPosition } from './positions.js'

/** How records are fetched: the same for a Consumer and a GroupMember. */
export interface FetchOptions {
  /**
   * What to do when a position is not in the log (any more): go on at the beginning, the end, or whichever is nearer, at a time before
   * now, or throw OFFSET_OUT_OF_RANGE. @default as `from`; 'nearest' where `from` is an offset
   */
  readonly outOfRange?: OutOfRangePolicy | undefined
  /** Whether records of open and aborted transactions are left out. @default 'read_committed' */
  readonly isolation?: Isolation | undefined
  /** A broker waits until it has so many bytes to give, or maxWaitMs is over. @default 1 */
  readonly minBytes?: number | undefined
  /** Milliseconds a broker may wait for records. @default 500 */
  readonly maxWaitMs?: number | undefined
  /** Bytes of one answer; a larger batch comes nevertheless, alone. @default 8388608 */
  readonly maxBytes?: number | undefined
  /** The same for one partition. @default 1048576 */
  readonly maxPartitionBytes?: number | undefined
  /** Bytes that may wait to be read, over all partitions. @default 33554432 */
  readonly prefetchBytes?: number | undefined
}

/** A partition, with or without the types of its topic. */
export interface PartitionOf<T extends TopicLike> {
  readonly topic: T
  readonly partition: number
}

export interface ConsumerOptions<T extends TopicLike = string> extends ClientOptions, FetchOptions {
  /** All partitions of these topics, those added later included. Either this or `partitions`. */
  readonly topics?: readonly T[] | undefined
  /** These partitions and no other. */
  readonly partitions?: readonly PartitionOf<T>[] | undefined
  /** Where to start. Partitions that are added later start at their beginning. @default 'end' */
  readonly from?: StartPosition | undefined
  /**
   * Where to stop, this offset not included; the iteration is over when every partition is there. 'end' is the end at the start.
   * @default never
   */
  readonly to?: StartPosition | undefined
}

const bytes = integer(1, 2 ** 31 - 1)

export const fetchOptions = {
  outOfRange: optional(outOfRangePolicy),
  isolation: option<Isolation>(oneOf('read_committed', 'read_uncommitted'), 'read_committed'),
  minBytes: option(integer(0, 2 ** 31 - 1), 1),
  maxWaitMs: option(integer(0, 86_400_000), 500),
  maxBytes: option(bytes, 8 << 20),
  maxPartitionBytes: option(bytes, 1 << 20),
  prefetchBytes: option(integer(1, Number.MAX_SAFE_INTEGER), 32 << 20),
}

const topicLike: Check<TopicLike> = (value, fail) => {
  try {
    topicName(value as TopicLike)
    return value as TopicLike
  } catch {
    return fail("a topic's name or what topic() gives")
  }
}

const partitionOf: Check<PartitionOf<TopicLike>> = (value, fail) => {
  const allowed = '{ topic, partition } with a partition of 0 or more'
  if (typeof value !== 'object' || value === null) return fail(allowed)
  const { topic, partition } = value as Record<string, unknown>
  if (!Number.isInteger(partition) || (partition as number) < 0 || (partition as number) > 0x7fffffff)
    return fail(allowed)
  return { topic: topicLike(topic, () => fail(allowed)), partition: partition as number }
}

/** An array of at least one, none of which comes twice. */
function different<T>(check: Check<T>, nameOfItem: (item: T) => string): Check<readonly T[]> {
  return (value, fail) => {
    if (!Array.isArray(value) || value.length === 0) return fail('an array of at least one')
    const seen = new Set<string>()
    return value.map((given: unknown, i) => {
      const item = check(given, (allowed) => fail(`an array whose item ${i} is ${allowed}`))
      const name = nameOfItem(item)
      if (seen.has(name)) fail(`an array in which nothing is twice (${name} is)`)
      seen.add(name)
      return item
    })
  }
}

/** The option `topics`, of GroupMember too. */
export const topicsCheck: Check<readonly TopicLike[]> = different(topicLike, topicName)

const consumerOptions = {
  ...clientOptions,
  ...fetchOptions,
  topics: optional(topicsCheck),
  partitions: optional(different(partitionOf, ({ topic, partition }) => `${topicName(topic)}-${partition}`)),
  from: option<StartPosition>(startPosition, 'end'),
  to: optional(startPosition),
} satisfies Record<string, Option<unknown>>

export interface ConsumerConfig {
  readonly client: ClientConfig
  readonly fetch: FetchConfig
  readonly outOfRange: OutOfRangePolicy | Date
  /** By name. */
  readonly topics: ReadonlyMap<string, TopicLike>
  /** undefined: all partitions of the topics. */
  readonly partitions: readonly { readonly topic: string; readonly partition: number }[] | undefined
  readonly from: StartPosition
  readonly to: StartPosition | undefined
}

export function resolveConsumerOptions(given: unknown): ConsumerConfig {
  const resolved = resolveOptions('Consumer', given, consumerOptions)
  const { topics, partitions, from, to } = resolved
  if ((topics === undefined) === (partitions === undefined)) {
    throw new UsageError('Consumer: either topics or partitions must be given, and not both', 'INVALID_OPTION')
  }
  const byName = new Map<string, TopicLike>()
  for (const topic of topics ?? partitions!.map(({ topic }) => topic)) {
    const name = topicName(topic)
    // Where a topic is given with its types and without, the types count.
    if (!byName.has(name) || typeof topic !== 'string') byName.set(name, topic)
  }
  return {
    client: resolved,
    fetch: resolved,
    outOfRange: policyOf(resolved.outOfRange, from),
    topics: byName,
    partitions: partitions?.map(({ topic, partition }) => ({ topic: topicName(topic), partition })),
    from,
    to,
  }
}

/** The policy, where none is given the same as `from`: an offset means the nearest end of the log. */
export function policyOf(outOfRange: OutOfRangePolicy | undefined, from: StartPosition): OutOfRangePolicy | Date {
  return outOfRange ?? (typeof from === 'number' ? 'nearest' : from)
}
