// One partition of a feed: where it stands, what is buffered, who leads it, when it may be tried again. It moves between fetchers
// as its leader changes. Does no I/O and sets no timer.
import { isKafkaError, RecordError } from '../../errors.js'
import { zeroUuid } from '../../protocol/wire/index.js'
import type { AnyRecord, FeedSource } from './consumer-record.js'
import { PartitionQueue } from './partition-queue.js'
import { partitionKey } from '../../protocol/topic-partition.js'
import type { Position, StartPosition } from './positions.js'

/** What marks a partition as asked for by one request; a partition that has another by the time of the answer drops it. */
export interface Flight {
  readonly fetchOffset: number
}

/** The fetcher that a partition is with, as far as the partition's placement sees it. */
export interface Home {
  readonly nodeId: number
  readonly partitions: Set<PartitionFeed>
  schedule(): void
}

export interface PendingReset {
  readonly reason: 'OFFSET_OUT_OF_RANGE' | 'TOPIC_RECREATED'
  readonly from: number
  /** Not `start` but the end of the log that is nearer to `from`. */
  readonly isNearest: boolean
}

export class PartitionFeed {
  readonly topic: string
  readonly partition: number
  readonly name: string
  readonly queue = new PartitionQueue()
  /** Replaced by every seek: records and answers of an older one count no more. */
  source: FeedSource

  /** Of the next record to be given out; -1 while `start` is looked up. */
  offset = -1
  leaderEpoch: number
  /** Of the next fetch; behind what is buffered. */
  fetchOffset = -1
  /** The place to look up; undefined once the offset is known. */
  start: StartPosition | undefined
  isLocating = false
  /** The offset to stop before. */
  end: number

  isPaused: boolean
  isRevoked = false
  /** In the feed's row of partitions that have something to read. */
  isInRow = false
  /** The last answer can only be acted on when everything before it was given out: fetch again then. */
  isDrainedFirst = false

  fetcher: Home | undefined
  topicId = zeroUuid
  currentLeaderEpoch = -1
  flight: Flight | undefined

  /** Why `start` is looked up again, if not for a seek. */
  reset: PendingReset | undefined
  /** Failures since the last success. */
  attempts = 0
  /** Monotonic. */
  retryAt = 0

  constructor(
    source: FeedSource,
    start: StartPosition,
    options: { end?: number | undefined; leaderEpoch?: number | undefined; isPaused?: boolean | undefined },
  ) {
    this.topic = source.topic
    this.partition = source.partition
    this.name = partitionKey(source)
    this.source = source
    this.end = options.end ?? Infinity
    this.leaderEpoch = options.leaderEpoch ?? -1
    this.isPaused = options.isPaused ?? false
    this.#startAt(start)
  }

  get position(): Position | undefined {
    return this.start === undefined ? { offset: this.offset, leaderEpoch: this.leaderEpoch } : undefined
  }

  get isFinished(): boolean {
    return this.offset >= this.end
  }

  /** Needs nothing but fetches. */
  get isSettled(): boolean {
    return this.start === undefined && this.fetcher !== undefined
  }

  isFetchable(now: number): boolean {
    return (
      this.start === undefined &&
      !this.isPaused &&
      this.retryAt <= now &&
      this.fetchOffset < this.end &&
      (!this.isDrainedFirst || this.queue.isEmpty)
    )
  }

  /** Drops what is buffered, what is in flight and what is being looked up, and begins anew. */
  moveTo(start: StartPosition): void {
    this.source = { ...this.source }
    this.queue.clear()
    this.flight = undefined
    this.isLocating = false
    this.isDrainedFirst = false
    this.reset = undefined
    this.leaderEpoch = -1
    this.retryAt = 0
    this.#startAt(start)
  }

  locatedAt(offset: number): void {
    this.start = undefined
    this.isLocating = false
    this.offset = offset
    this.fetchOffset = offset
  }

  /** The next record, if one is decoded. */
  take(): AnyRecord | undefined {
    const { queue } = this
    const { records } = queue
    const index = queue.index
    if (index === records.length) return undefined
    const record = records[index]!
    queue.index = index + 1
    this.offset = index + 1 === records.length ? queue.nextOffset : record.offset + 1
    this.leaderEpoch = queue.leaderEpoch
    return record
  }

  /** Up to so many decoded records, not more than `maxBytes` but for the first. */
  takeSlice(maxRecords: number, maxBytes: number): readonly AnyRecord[] {
    const { queue } = this
    const { records, index } = queue
    let to = index
    for (let bytes = 0; to < records.length && to - index < maxRecords; to++) {
      bytes += records[to]!.sizeInBytes
      if (bytes > maxBytes && to > index) break
    }
    if (to === index) return []
    queue.index = to
    this.offset = to === records.length ? queue.nextOffset : records[to - 1]!.offset + 1
    this.leaderEpoch = queue.leaderEpoch
    return index === 0 && to === records.length ? records : records.slice(index, to)
  }

  /**
   * Decodes on; true when there are records to take. Moves the position over what holds none.
   * @throws {RecordError} what cannot be read, with the position as its offset; it is fetched again then
   */
  load(): boolean {
    const { queue } = this
    if (this.isFinished) {
      queue.clear()
      return false
    }
    try {
      if (queue.load(this.offset, this.end)) return true
    } catch (error) {
      const offset = Math.max(this.offset, queue.nextOffset)
      const next = queue.failedBatchEnd
      this.offset = offset
      this.fetchAgain()
      throw this.unreadable(error, next)
    }
    if (queue.nextOffset > this.offset) this.leaderEpoch = queue.leaderEpoch
    this.offset = queue.nextOffset
    if (this.isFinished) queue.clear()
    return false
  }

  /** Forgets what is buffered and goes back to the position. */
  fetchAgain(): void {
    this.queue.clear()
    this.flight = undefined
    this.fetchOffset = this.offset
  }

  /** Lets go of buffered bytes; they are fetched again when they are needed. */
  dropWaiting(): void {
    const offset = this.queue.dropWaiting()
    if (offset < 0) return
    this.fetchOffset = Math.max(this.offset, offset)
    this.flight = undefined
  }

  /** Puts records back that were given out last; false when the partition has been moved since. */
  giveBack(records: readonly AnyRecord[]): boolean {
    const first = records[0]!
    if (this.isRevoked || first.source !== this.source) return false
    this.queue.giveBack(records)
    this.offset = first.offset
    return true
  }

  unreadable(error: unknown, nextOffset: number | undefined): Error {
    if (!isKafkaError(error)) return error as Error
    const goOn = nextOffset === undefined ? '' : `; seek to ${nextOffset} to go on behind it`
    const { topic, partition, offset } = this
    return new RecordError(error.message + goOn, {
      code: error.code,
      topic,
      partition,
      offset,
      nextOffset,
      cause: error,
    })
  }

  #startAt(start: StartPosition): void {
    if (typeof start === 'number') this.locatedAt(start)
    else {
      this.start = start
      this.offset = -1
      this.fetchOffset = -1
    }
  }
}
