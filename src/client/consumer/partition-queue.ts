// What is fetched of one partition and not given out yet. A batch is checked, decompressed and decoded when the reader reaches
// it, a slice of its records at a time.
import type { RecordBatch } from '../../protocol/records/record-batch.js'
import { RecordCursor } from '../../protocol/records/record-cursor.js'
import type { AbortedTransactions } from './aborted-transactions.js'
import { ConsumerRecord, type AnyRecord, type FeedSource } from './consumer-record.js'

/** Views made at once; a batch may decompress to millions of records. */
const sliceRecords = 512

interface Waiting {
  readonly batch: RecordBatch<FeedSource>
  readonly aborted: AbortedTransactions | undefined
}

const nothing: readonly AnyRecord[] = []

export class PartitionQueue {
  /** Decoded; those from `index` on are still to be given out. */
  records: readonly AnyRecord[] = nothing
  index = 0
  /** Of the batches that the reader has not reached. */
  bytes = 0
  #waiting: Waiting[] = []
  #head = 0
  #cursor: RecordCursor<FeedSource> | undefined
  /** Where the position is once `records` are given out. */
  #nextOffset = 0
  #leaderEpoch = -1
  #failing: RecordBatch | undefined

  get isEmpty(): boolean {
    return this.index === this.records.length && this.#head === this.#waiting.length && this.#cursor === undefined
  }

  /** The reader is in the middle of a batch. */
  get isInBatch(): boolean {
    return this.#cursor !== undefined
  }

  get nextOffset(): number {
    return this.#nextOffset
  }

  get leaderEpoch(): number {
    return this.#leaderEpoch
  }

  /** Where one can go on after load() has thrown: at the batch behind, or where the header says. */
  get failedBatchEnd(): number | undefined {
    return this.#waiting[this.#head]?.batch.baseOffset ?? this.#failing?.nextOffset
  }

  push(batches: readonly RecordBatch<FeedSource>[], aborted: AbortedTransactions | undefined): void {
    for (const batch of batches) {
      this.#waiting.push({ batch, aborted })
      this.bytes += batch.sizeInBytes
    }
  }

  /**
   * Decodes on until there are records in [from, end), or nothing is left; `records` are replaced, `nextOffset` moves on either way
   * (over gaps, control batches and what was aborted), but not beyond `end`. False when there is nothing.
   * @throws {RecordError} what cannot be read; the queue is of no use then
   */
  load(from: number, end: number): boolean {
    this.#nextOffset = from
    while (this.#nextOffset < end) {
      const cursor = this.#cursor ?? this.#nextCursor(from, end)
      if (cursor === undefined) {
        if (this.#head === this.#waiting.length) break
        continue
      }
      const records = this.#slice(cursor, from, end)
      if (records.length > 0) {
        this.records = records
        this.index = 0
        return true
      }
    }
    this.records = nothing
    this.index = 0
    return false
  }

  /** Puts records back that were given out last, in front of all others. */
  giveBack(records: readonly AnyRecord[]): void {
    const left = this.records.slice(this.index)
    this.records = [...records, ...left]
    this.index = 0
  }

  /** Lets go of what the reader has not reached; what is decoded stays. Returns where to fetch from again. */
  dropWaiting(): number {
    const first = this.#waiting[this.#head]
    const offset = first === undefined ? -1 : first.batch.baseOffset
    this.#waiting = []
    this.#head = 0
    this.bytes = 0
    return offset
  }

  clear(): void {
    this.dropWaiting()
    this.#failing = undefined
    this.#cursor = undefined
    this.records = nothing
    this.index = 0
  }

  /** The cursor of the next batch that has records to give out; undefined when the batch at the head had none. */
  #nextCursor(from: number, end: number): RecordCursor<FeedSource> | undefined {
    const waiting = this.#waiting[this.#head]
    if (waiting === undefined) return undefined
    const { batch, aborted } = waiting
    if (++this.#head === this.#waiting.length) {
      this.#waiting = []
      this.#head = 0
    }
    this.bytes -= batch.sizeInBytes
    const { nextOffset } = batch
    if (nextOffset <= from) {
      aborted?.covers(batch)
      return undefined
    }
    if (batch.baseOffset >= end) {
      this.#nextOffset = end
      return undefined
    }
    this.#failing = batch
    batch.verifyCrc()
    const isLeftOut = aborted?.covers(batch) === true || batch.isControl || batch.recordCount === 0
    this.#leaderEpoch = batch.leaderEpoch
    if (isLeftOut) {
      this.#nextOffset = Math.min(nextOffset, end)
      return undefined
    }
    return (this.#cursor = new RecordCursor(batch))
  }

  #slice(cursor: RecordCursor<FeedSource>, from: number, end: number): readonly AnyRecord[] {
    const records: AnyRecord[] = []
    const { baseOffset } = cursor
    while (records.length < sliceRecords) {
      if (!cursor.next()) {
        this.#cursor = undefined
        this.#nextOffset = Math.min(cursor.batch.nextOffset, end)
        return records
      }
      const offset = baseOffset + cursor.offsetDelta
      if (offset < from) continue
      if (offset >= end) {
        this.#cursor = undefined
        this.#nextOffset = end
        return records
      }
      records.push(new ConsumerRecord(cursor))
    }
    this.#nextOffset = baseOffset + cursor.offsetDelta + 1
    return records
  }
}
