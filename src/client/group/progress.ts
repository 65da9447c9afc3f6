// What of a member's partitions is done: everything that was given out, but for the record or batch that the handler has now.
import { comparePartitions, type TopicPartition } from '../../protocol/topic-partition.js'
import type { AnyRecord, ConsumerBatch, FeedSource } from '../consumer/consumer-record.js'
import type { RecordFeed } from '../consumer/record-feed.js'
import type { CommittedOffset } from './committed-offsets.js'

type Place = Pick<CommittedOffset, 'offset' | 'leaderEpoch'>

export class Progress {
  readonly #feed: RecordFeed
  // The record or batch that the handler has: where it is from, its first offset that is not done, and its last one.
  #source: FeedSource | undefined
  #first = 0
  #next = 0
  #last = 0
  /** The handler went away from it; it is given out again when reading goes on, unless it is called done before. */
  #isAbandoned = false
  #waiting: (() => void)[] = []

  constructor(feed: RecordFeed) {
    this.#feed = feed
  }

  get isHandling(): boolean {
    return this.#source !== undefined && !this.#isAbandoned
  }

  /** Whether something of one of these partitions was given out last and is not done. */
  #hasOneOf(partitions: readonly TopicPartition[]): boolean {
    const source = this.#source
    return source !== undefined && partitions.some((one) => comparePartitions(one, source) === 0)
  }

  gaveRecord(record: AnyRecord): void {
    this.#source = record.source
    this.#first = this.#next = this.#last = record.offset
  }

  gaveBatch({ records }: ConsumerBatch<AnyRecord>): void {
    const first = records[0] as AnyRecord
    this.#source = first.source
    this.#first = this.#next = first.offset
    this.#last = (records[records.length - 1] as AnyRecord).offset
  }

  /** The handler asked for more: what it had is done. */
  finished(): void {
    this.#source = undefined
    this.#isAbandoned = false
    if (this.#waiting.length > 0) this.stopWaiting()
  }

  /** record.done(): this record, and all before it of its partition. */
  done(source: FeedSource, offset: number): void {
    if (source !== this.#source) return
    if (offset >= this.#last) this.finished()
    else this.#next = Math.max(this.#next, offset + 1)
  }

  /** The handler went away: what it had and did not call done is not waited for any more. */
  abandoned(): void {
    if (this.#source === undefined) return
    this.#isAbandoned = true
    this.stopWaiting()
  }

  /** Reading goes on: what was abandoned is given out again. */
  resumed(): void {
    const source = this.#source
    if (source === undefined) return
    const isWhole = this.#next === this.#first
    const next = this.#next
    this.finished()
    if (isWhole) this.#feed.unread()
    else if (this.#feed.owns(source)) this.#feed.seek(source, next)
  }

  /** These partitions were taken away or moved: what the handler has of them counts no more. */
  dropped(partitions: readonly TopicPartition[]): void {
    if (this.#hasOneOf(partitions)) this.finished()
  }

  /** Resolves when the handler has nothing of these partitions any more. */
  drained(partitions: readonly TopicPartition[]): Promise<void> {
    if (!this.isHandling || !this.#hasOneOf(partitions)) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Ends the waits of drained(), though the handler is not through. */
  stopWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** What is given out next of the partition. */
  positionOf(partition: TopicPartition): number | undefined {
    return this.#isAbandoned ? this.doneOf(partition)?.offset : this.#feed.position(partition)?.offset
  }

  /** Where the next owner of the partition would have to begin; undefined when the member has no position in it. */
  doneOf(partition: TopicPartition): Place | undefined {
    const position = this.#feed.position(partition)
    if (position === undefined) return undefined
    return this.#hasOneOf([partition]) ? { offset: this.#next, leaderEpoch: -1 } : position
  }
}
