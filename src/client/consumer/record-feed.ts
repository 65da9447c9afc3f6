// The stream of records of a set of partitions, for a Consumer and a GroupMember alike: what is assigned, where it stands, what
// comes next. Knows no group and commits nothing; whoever owns it decides what is assigned and what is done.
import { UsageError, type KafkaError } from '../../errors.js'
import type { Deadline } from '../../util/deadline.js'
import { Deferred } from '../../util/deferred.js'
import type { Cluster } from '../cluster/cluster.js'
import { ConsumerBatch, type AnyRecord, type FeedSource, type RecordSerdes } from './consumer-record.js'
import type { FetchConfig } from './fetcher.js'
import type { OffsetLookup } from './offset-lookup.js'
import { PartitionFeed } from './partition-feed.js'
import { Placement, type PositionResetEvent } from './placement.js'
import { partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import type { OutOfRangePolicy, Position, StartPosition } from './positions.js'

export interface FeedParts {
  /** Must know the topics of the partitions (Cluster.topics), and stays its owner's to close. */
  readonly cluster: Cluster
  readonly config: FetchConfig
  readonly outOfRange: OutOfRangePolicy | Date
  readonly lookup: OffsetLookup
  readonly serdesOf: (topic: string) => RecordSerdes
  /** Called by `record.done()`; ask `owns(source)` whether the partition is still as it was. */
  readonly onDone?: FeedSource['onDone']
  /** A position was moved by the outOfRange policy. */
  readonly onReset: (event: PositionResetEvent) => void
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
  /** A batch holds one record at least. */
  readonly maxBytes: number
}

interface Failure {
  readonly source: FeedSource | undefined
  readonly error: KafkaError
}

export class RecordFeed {
  readonly #parts: FeedParts
  readonly #placement: Placement
  readonly #partitions = new Map<string, PartitionFeed>()
  /** Those with something to read, in turn; the one being read is not among them. */
  #row: PartitionFeed[] = []
  #current: PartitionFeed | undefined
  #last: AnyRecord | ConsumerBatch<AnyRecord> | undefined
  #isLastFull = false
  /** To be thrown, the first one of each partition; of a whole broker when there is no partition. */
  readonly #failures = new Map<PartitionFeed | undefined, Failure>()
  #change: Deferred<void> | undefined
  #isClosed = false

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.#placement = new Placement(parts, {
      readable: (partition) => {
        this.#failures.delete(partition)
        if (partition.isPaused) return
        this.#enrow(partition)
        this.wake()
      },
      located: () => {
        this.wake()
      },
      failed: (partition, error) => {
        this.#failed(partition, error)
        this.wake()
      },
      reset: (event) => {
        parts.onReset(event)
      },
    })
  }

  // ---- assignment

  /** Adds partitions; those it has already are left as they are. Fetching begins at once. */
  assign(partitions: readonly AssignedPartition[]): void {
    for (const { topic, partition, start, leaderEpoch, end, isPaused } of partitions) {
      const name = partitionKey({ topic, partition })
      if (this.#isClosed || this.#partitions.has(name)) continue
      const source = { topic, partition, serdes: this.#parts.serdesOf(topic), onDone: this.#parts.onDone }
      const feed = new PartitionFeed(source, start, { end, leaderEpoch, isPaused })
      this.#partitions.set(name, feed)
      this.#placement.add(feed)
    }
    this.wake()
  }

  /** Takes partitions away: what is buffered of them is dropped, and what still comes for them too. */
  revoke(partitions: readonly TopicPartition[]): void {
    for (const one of partitions) {
      const name = partitionKey(one)
      const partition = this.#partitions.get(name)
      if (partition === undefined) continue
      this.#partitions.delete(name)
      this.#leave(partition)
      partition.isRevoked = true
      partition.queue.clear()
      this.#placement.remove(partition)
    }
    this.wake()
  }

  has(partition: TopicPartition): boolean {
    return this.#partitions.has(partitionKey(partition))
  }

  partitions(): TopicPartition[] {
    return [...this.#partitions.values()].map(({ topic, partition }) => ({ topic, partition }))
  }

  /** Whether the partition of a record has neither been revoked nor moved (by seek, or to another offset) since it was given out. */
  owns(source: FeedSource): boolean {
    return this.#partitions.get(partitionKey(source))?.source === source
  }

  // ---- positions

  /** Moves a partition; wins over a start position still being looked up. Throws NOT_ASSIGNED for one it does not have. */
  seek(partition: TopicPartition, to: StartPosition): void {
    const feed = this.#get(partition, 'seek')
    this.#leave(feed)
    feed.moveTo(to)
    this.#placement.changed(feed)
    this.wake()
  }

  /** The next record to be given out; undefined while it is being looked up or when the partition is not here. */
  position(partition: TopicPartition): Position | undefined {
    return this.#partitions.get(partitionKey(partition))?.position
  }

  /** Resolves when every assigned partition has a position; rejects with what hinders it, or by the deadline. */
  async positioned(deadline: Deadline): Promise<void> {
    while (!this.#isClosed && [...this.#partitions.values()].some(({ start }) => start !== undefined)) {
      this.#throwFailure()
      await deadline.race(this.changed(), 'finding the start offsets')
    }
  }

  // ---- pausing

  /** Nothing more is given out; what is buffered is kept. Throws NOT_ASSIGNED. */
  pause(partitions: readonly TopicPartition[]): void {
    for (const feed of partitions.map((one) => this.#get(one, 'pause'))) {
      feed.isPaused = true
      if (this.#current === feed) this.#current = undefined
      // What it has buffered may be in the way of the others now.
      this.#placement.changed(feed)
    }
    this.wake()
  }

  /** Throws NOT_ASSIGNED. */
  resume(partitions: readonly TopicPartition[]): void {
    for (const feed of partitions.map((one) => this.#get(one, 'resume'))) {
      if (!feed.isPaused) continue
      feed.isPaused = false
      if (!feed.queue.isEmpty) this.#enrow(feed)
      this.#placement.changed(feed)
    }
    this.wake()
  }

  isPaused(partition: TopicPartition): boolean {
    return this.#partitions.get(partitionKey(partition))?.isPaused === true
  }

  // ---- reading

  /**
   * The next record, if one is buffered; its partition's position is then behind it. Throws what hinders a partition (a corrupt
   * batch, no authorization, an offset out of range under 'error'): each failure once, then the partition is fetched again after a
   * backoff, or at once after a seek.
   */
  next(): AnyRecord | undefined {
    let record = this.#current?.take()
    if (record === undefined) record = this.#reach()?.take()
    this.#last = record
    return record
  }

  /** The same for up to so many records of one partition. */
  nextBatch(limits: BatchLimits): ConsumerBatch<AnyRecord> | undefined {
    this.#last = undefined
    const partition = this.#reach()
    return partition && (this.#last = this.#fill(partition, limits))
  }

  /** Nothing can be added to the batch given out last. */
  get isLastFull(): boolean {
    return this.#isLastFull
  }

  /** The record or batch given out last is given out again, unless its partition was revoked or moved since. */
  unread(): void {
    const last = this.#last
    if (last === undefined) return
    this.#last = undefined
    const partition = this.#partitions.get(partitionKey(last))
    if (partition?.giveBack(last instanceof ConsumerBatch ? last.records : [last]) !== true || partition.isPaused)
      return
    if (this.#current !== undefined && this.#current !== partition) this.#enrow(this.#current)
    this.#current = partition
  }

  /**
   * Resolves when next() may have something (or a failure), when wake() is called, when all partitions have reached their end, and on
   * close. Never rejects.
   */
  wait(): Promise<void> {
    if (this.#row.length > 0 || this.#failures.size > 0 || this.#current !== undefined) return Promise.resolve()
    if (this.#isClosed || this.isFinished) return Promise.resolve()
    return this.changed()
  }

  /** Resolves when something has changed, whether or not there is something to read already. */
  changed(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return (this.#change ??= new Deferred<void>()).promise
  }

  /** Ends a wait(). */
  wake(): void {
    this.#change?.resolve()
    this.#change = undefined
  }

  /** There are partitions, and all have an end and have reached it. */
  get isFinished(): boolean {
    if (this.#partitions.size === 0) return false
    for (const partition of this.#partitions.values()) if (!partition.isFinished) return false
    return true
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Drops everything and ends all waits. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.revoke(this.partitions())
    this.#placement.close()
    this.#row = []
    this.#failures.clear()
    this.#last = undefined
    this.wake()
  }

  // ---- inside

  #get(partition: TopicPartition, what: string): PartitionFeed {
    const feed = this.#partitions.get(partitionKey(partition))
    if (feed !== undefined) return feed
    const all = [...this.#partitions.keys()]
    const shown = all.slice(0, 10).join(', ') + (all.length > 10 ? ', …' : '')
    const message = `${what}: ${partitionKey(partition)} is not assigned here; assigned are ${shown || 'no partitions'}`
    throw new UsageError(message, 'NOT_ASSIGNED')
  }

  /** A partition that has decoded records to take, and is the current one then. */
  #reach(): PartitionFeed | undefined {
    const current = this.#current
    if (current !== undefined) {
      if (current.queue.index < current.queue.records.length) return current
      // One batch after another: what is decompressed of each is not counted by prefetchBytes.
      if (current.queue.isInBatch && this.#load(current)) return current
      this.#current = undefined
      if (current.queue.isEmpty) this.#placement.changed(current)
      else this.#enrow(current)
    }
    for (;;) {
      this.#throwFailure()
      const partition = this.#row.shift()
      if (partition === undefined) return undefined
      partition.isInRow = false
      if (partition.isRevoked || partition.isPaused) continue
      if (partition.queue.index < partition.queue.records.length || this.#load(partition)) {
        this.#current = partition
        return partition
      }
      if (partition.isFinished) this.wake()
    }
  }

  /** Adds records of a partition that has some decoded, or that had some. */
  #fill(partition: PartitionFeed, { maxRecords, maxBytes }: BatchLimits): ConsumerBatch<AnyRecord> {
    let records: readonly AnyRecord[] = []
    let bytes = maxBytes
    for (;;) {
      this.#isLastFull = records.length >= maxRecords || bytes <= 0
      if (this.#isLastFull) break
      if (partition.queue.index === partition.queue.records.length) {
        if (partition.queue.isEmpty || !this.#load(partition)) break
      }
      const more = partition.takeSlice(maxRecords - records.length, bytes)
      for (const record of more) bytes -= record.sizeInBytes
      if (bytes < 0 && records.length > 0 && more.length === 1) {
        // A slice has one record at least, also when that is one too many.
        partition.giveBack(more)
        this.#isLastFull = true
        break
      }
      records = records.length === 0 ? more : records.concat(more)
    }
    return new ConsumerBatch(records)
  }

  /** Decodes on; what cannot be decoded becomes a failure. */
  #load(partition: PartitionFeed): boolean {
    try {
      return partition.load()
    } catch (error) {
      this.#failed(partition, error as KafkaError)
      this.#placement.delay(partition, error as KafkaError)
      return false
    } finally {
      this.#placement.changed(partition)
    }
  }

  #failed(partition: PartitionFeed | undefined, error: KafkaError): void {
    const source = partition?.source
    const known = this.#failures.get(partition)
    if (known === undefined || known.source !== source) this.#failures.set(partition, { source, error })
  }

  #throwFailure(): void {
    for (const [partition, { source, error }] of this.#failures) {
      this.#failures.delete(partition)
      // A seek or a revoke has dealt with it.
      if (partition !== undefined && (partition.isRevoked || partition.source !== source)) continue
      throw error
    }
  }

  #enrow(partition: PartitionFeed): void {
    if (partition.isInRow || partition === this.#current) return
    partition.isInRow = true
    this.#row.push(partition)
  }

  #leave(partition: PartitionFeed): void {
    if (this.#current === partition) this.#current = undefined
    if (!partition.isInRow) return
    partition.isInRow = false
    this.#row = this.#row.filter((other) => other !== partition)
  }
}
