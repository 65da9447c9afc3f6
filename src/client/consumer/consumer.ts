// The public Consumer: reads partitions without a group. Validates, delegates and closes; the work is the feed's.
import { KafkaError, UsageError } from '../../errors.js'
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import { Events } from '../../util/events.js'
import { Cluster, type ClusterEvents } from '../cluster/index.js'
import type { TopicLike } from '../serde/index.js'
import { batchSource, batchesConfig, recordSource, type BatchesOptions, type FeedSourceOf } from './consumer-sources.js'
import { resolveConsumerOptions, type ConsumerConfig, type ConsumerOptions } from './consumer-options.js'
import type { ConsumerBatch } from './consumer-record.js'
import { lagOf, type PartitionLag } from './lag.js'
import { OffsetLookup } from './offset-lookup.js'
import type { PositionResetEvent } from './placement.js'
import { partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import { isStartPosition, startPositionText, type StartPosition } from './positions.js'
import { PullIterator, type PullSource } from './pull-iterator.js'
import { RecordFeed } from './record-feed.js'
import { recordSerdes, type ConsumerRecordOf } from './record-serdes.js'

export interface ConsumerEvents extends ClusterEvents {
  /** The log did not hold a position, or its topic was created anew; reading goes on where `outOfRange` says. */
  reset: PositionResetEvent
  /** Topics have more partitions than before; they are read from their beginning. */
  partitionsAdded: { readonly partitions: readonly TopicPartition[] }
}

export interface OffsetAtTime extends TopicPartition {
  /** Of the first record at or after the time; null if there is none. */
  readonly offset: number | null
  readonly timestamp: number | null
  readonly leaderEpoch: number
}

/**
 * Reads topics or partitions without a group: `for await` over the consumer itself gives records, over {@link Consumer.batches} a
 * partition's records at a time. It connects when the iteration begins, or by {@link Consumer.connect}.
 *
 * One iteration at a time. After `break` (or an error) a later one goes on with the next record.
 *
 * @example
 * await using reader = new Consumer({ brokers: ['localhost:9092'], topics: ['orders'], from: 'beginning', to: 'end' })
 * for await (const record of reader) console.log(record.offset, record.value?.toString())
 */
export class Consumer<const T extends TopicLike = string> implements AsyncIterable<ConsumerRecordOf<T>> {
  readonly #config: ConsumerConfig
  readonly #cluster: Cluster
  readonly #lookup: OffsetLookup
  readonly #feed: RecordFeed
  readonly #events = new Events<ConsumerEvents>()
  #isStarted = false
  #unlisten: (() => void) | undefined
  #isIterating = false
  #closing: Promise<void> | undefined

  /** @throws {UsageError} INVALID_OPTION, naming the option */
  constructor(options: ConsumerOptions<T>) {
    const config = resolveConsumerOptions(options)
    this.#config = config
    this.#cluster = new Cluster(config.client, 'Consumer')
    this.#lookup = new OffsetLookup(this.#cluster, config.fetch.isolation)
    this.#feed = new RecordFeed({
      cluster: this.#cluster,
      config: config.fetch,
      outOfRange: config.outOfRange,
      lookup: this.#lookup,
      serdesOf: (topic) => recordSerdes(config.topics.get(topic)),
      onReset: (event) => {
        this.#events.emit('reset', event)
      },
    })
  }

  /**
   * Reaches the cluster and learns the partitions; the iteration does it otherwise. Waits until the topics exist, requestTimeoutMs at most
   * unless said otherwise.
   */
  async connect(options: WaitOptions = {}): Promise<void> {
    if (this.#closing !== undefined) throw closedError()
    if (!this.#isStarted) await this.#start(this.#deadline(options))
  }

  /** Stops fetching, ends a waiting iteration and closes the connections. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Calls the listener at each event: see {@link ConsumerEvents}. */
  on<Name extends keyof ConsumerEvents>(name: Name, listener: (event: ConsumerEvents[Name]) => unknown): this {
    this.#eventsOf(name).on(name, listener)
    return this
  }

  once<Name extends keyof ConsumerEvents>(name: Name, listener: (event: ConsumerEvents[Name]) => unknown): this {
    this.#eventsOf(name).once(name, listener)
    return this
  }

  off<Name extends keyof ConsumerEvents>(name: Name, listener: (event: ConsumerEvents[Name]) => unknown): this {
    this.#eventsOf(name).off(name, listener)
    return this
  }

  // ---- reading

  /** Record by record; ends at `to`, on close, or with ABORTED by its signal. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ConsumerRecordOf<T>, undefined, undefined> {
    return this.records()
  }

  /** The same with a signal. */
  records(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncIterableIterator<ConsumerRecordOf<T>, undefined, undefined> {
    return this.#iterate(recordSource<ConsumerRecordOf<T>>(this.#feed), options.signal)
  }

  /** Up to so many records of one partition at a time: what is there, or after maxWaitMs. */
  batches(
    options: BatchesOptions = {},
  ): AsyncIterableIterator<ConsumerBatch<ConsumerRecordOf<T>>, undefined, undefined> {
    const config = batchesConfig('Consumer.batches', options)
    return this.#iterate(batchSource<ConsumerRecordOf<T>>(this.#feed, this.#cluster.clock, config), config.signal)
  }

  // ---- positions

  /** What is being read; empty before connect(). */
  partitions(): TopicPartition[] {
    return this.#feed.partitions()
  }

  /** The offset of the next record to be given out; undefined while it is not known yet. */
  position(partition: TopicPartition): number | undefined {
    return this.#feed.position(partition)?.offset
  }

  /**
   * Goes on elsewhere in one partition, at once.
   * @throws {UsageError} NOT_ASSIGNED for a partition that is not read here
   */
  seek(partition: TopicPartition, to: StartPosition): void {
    this.#checkKnown('seek')
    checkPosition('seek', to)
    this.#feed.seek(partition, to)
  }

  /** Goes on elsewhere in all partitions; done when the new positions are known. */
  async rewind(to: StartPosition, options: WaitOptions = {}): Promise<void> {
    checkPosition('rewind', to)
    const deadline = this.#deadline(options)
    await this.connect(options)
    for (const partition of this.#feed.partitions()) this.#feed.seek(partition, to)
    await this.#feed.positioned(deadline)
  }

  /** Gives out nothing more of these partitions (all, unless named) until resume(); what is fetched already is kept. */
  pause(partitions?: readonly TopicPartition[]): void {
    this.#checkKnown('pause')
    this.#feed.pause(partitions ?? this.#feed.partitions())
  }

  /** Ends pause() of these partitions (all, unless named). */
  resume(partitions?: readonly TopicPartition[]): void {
    this.#checkKnown('resume')
    this.#feed.resume(partitions ?? this.#feed.partitions())
  }

  isPaused(partition: TopicPartition): boolean {
    return this.#feed.isPaused(partition)
  }

  /** How far each partition's position is from its end, asked of the brokers now. */
  async lag(options: WaitOptions = {}): Promise<PartitionLag[]> {
    const deadline = this.#deadline(options)
    await this.connect(options)
    return lagOf(this.#feed, this.#lookup, deadline)
  }

  /**
   * The first offset at or after a time (a Date, or milliseconds since 1970): of every partition that is read, or of those named, in that
   * order. `offset` is null where there is no such record.
   */
  async offsetsForTimes(
    time: Date | number,
    options: WaitOptions & { readonly partitions?: readonly TopicPartition[] | undefined } = {},
  ): Promise<OffsetAtTime[]> {
    const at = new Date(time)
    if (Number.isNaN(at.getTime())) throw new UsageError('Consumer: offsetsForTimes takes a valid Date or milliseconds')
    const deadline = this.#deadline(options)
    await this.connect(options)
    const partitions = options.partitions ?? this.#feed.partitions()
    const found = await this.#lookup.offsetsAt(
      partitions.map(({ topic, partition }) => ({ topic, partition, at })),
      deadline,
    )
    return partitions.map(({ topic, partition }, i) => {
      const { offset = null, timestamp = null, leaderEpoch = -1 } = found[i] ?? {}
      return { topic, partition, offset, timestamp, leaderEpoch }
    })
  }

  // ---- inside

  /** Not shared: one caller's deadline and signal must not end another's wait. The first one that gets through counts. */
  async #start(deadline: Deadline): Promise<void> {
    const { topics, partitions: chosen, from, to } = this.#config
    await this.#cluster.connect(deadline)
    const known = await this.#cluster.topics([...topics.keys()], deadline)
    const all: TopicPartition[] = []
    for (const { name, error, partitions } of known.values()) {
      if (error !== undefined) throw error
      for (const { partition } of partitions) all.push({ topic: name, partition })
    }
    const existing = new Set(all.map(partitionKey))
    const missing = chosen?.find((partition) => !existing.has(partitionKey(partition)))
    if (missing !== undefined) {
      const message = `Consumer: topic ${missing.topic} has no partition ${missing.partition}`
      throw new KafkaError(message, { code: 'UNKNOWN_TOPIC_OR_PARTITION' })
    }
    const partitions = chosen ?? all
    const ends =
      to === undefined
        ? []
        : await this.#lookup.offsets(
            partitions.map((partition) => ({ ...partition, at: to })),
            deadline,
          )
    if (this.#isStarted || this.#feed.isClosed) return
    this.#isStarted = true
    this.#feed.assign(partitions.map((partition, i) => ({ ...partition, start: from, end: ends[i]?.offset })))
    if (chosen === undefined && to === undefined) {
      this.#unlisten = this.#cluster.onMetadata(() => {
        this.#followTopics()
      })
      this.#followTopics()
    }
  }

  /** Partitions that were added since the start, or went with a topic that was created anew with fewer. */
  #followTopics(): void {
    const added: TopicPartition[] = []
    const gone = this.#feed.partitions().filter(({ topic, partition }) => {
      const metadata = this.#cluster.cachedTopic(topic)
      return metadata !== undefined && metadata.error === undefined && partition >= metadata.partitions.length
    })
    this.#feed.revoke(gone)
    for (const topic of this.#config.topics.keys()) {
      for (const { partition } of this.#cluster.cachedTopic(topic)?.partitions ?? []) {
        if (!this.#feed.has({ topic, partition })) added.push({ topic, partition })
      }
    }
    if (added.length === 0) return
    this.#feed.assign(added.map((partition) => ({ ...partition, start: 'beginning' })))
    this.#events.emit('partitionsAdded', { partitions: added })
  }

  #iterate<R>({ take, wait, stop }: FeedSourceOf<R>, signal: AbortSignal | undefined): PullIterator<R> {
    let isOurs = false
    const source: PullSource<R> = {
      begin: async (signal) => {
        if (this.#closing !== undefined) throw closedError()
        if (this.#isIterating) {
          throw new UsageError(
            'Consumer: it is being iterated already; end that iteration first, or use another Consumer',
          )
        }
        this.#isIterating = true
        isOurs = true
        await this.connect({ signal })
      },
      take,
      isOver: () => this.#feed.isClosed || this.#feed.isFinished,
      wait,
      wake: () => {
        this.#feed.wake()
      },
      end: () => {
        if (!isOurs) return
        this.#isIterating = false
        stop()
      },
    }
    return new PullIterator(source, this.#cluster.clock, signal)
  }

  async #close(): Promise<void> {
    this.#unlisten?.()
    this.#feed.close()
    await this.#cluster.close()
  }

  #deadline({ timeoutMs = this.#config.client.requestTimeoutMs, signal }: WaitOptions): Deadline {
    return this.#cluster.deadline(timeoutMs, signal)
  }

  #eventsOf(name: keyof ConsumerEvents): Events<ConsumerEvents> {
    return name === 'reset' || name === 'partitionsAdded'
      ? this.#events
      : (this.#cluster.events as unknown as Events<ConsumerEvents>)
  }

  #checkKnown(what: string): void {
    if (this.#closing !== undefined) throw closedError()
    if (this.#feed.partitions().length > 0) return
    throw new UsageError(`Consumer: ${what} needs the partitions to be known; await connect() first`, 'NOT_ASSIGNED')
  }
}

function checkPosition(what: string, position: unknown): void {
  if (!isStartPosition(position)) throw new UsageError(`Consumer: ${what} takes ${startPositionText}`)
}

function closedError(): UsageError {
  return new UsageError('Consumer: it is closed', 'CLOSED')
}
