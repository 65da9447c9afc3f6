// One partition's records on their way out: the open batch, full ones behind it, and the window of those that were drained.
// It moves from broker to broker with its partition.
import type { KafkaError } from '../../errors.js'
import type { BytesInput, HeadersInput } from '../../protocol/records/batch-builder.js'
import type { TopicMetadata } from '../cluster/index.js'
import type { Batch } from './batch.js'
import type { Delivery } from './delivery.js'
import type { PartitionWindow } from './partition-window.js'

/** Timers fire up to so much before the time that the monotonic clock shows. */
const timerToleranceMs = 1

/** What a partition's queue knows of its topic. */
export interface TopicView {
  readonly name: string
  readonly metadata: TopicMetadata | undefined
}

export class PartitionQueue {
  readonly topic: TopicView
  readonly partition: number
  readonly window: PartitionWindow
  /** Owned by the dispatcher: it is on a list already; and, monotonic, not to be tried before. */
  isScheduled = false
  sleepsUntil = 0
  readonly #closed: Batch[] = []
  #open: Batch | undefined
  /** What batches came to lately, so that a new one need not grow. */
  #usualBytes = 0

  constructor(topic: TopicView, partition: number, window: PartitionWindow) {
    this.topic = topic
    this.partition = partition
    this.window = window
  }

  get name(): string {
    return `${this.topic.name}-${this.partition}`
  }

  /** -1: nobody leads it as far as is known. */
  get leaderId(): number {
    return this.topic.metadata?.partitions[this.partition]?.leaderId ?? -1
  }

  get open(): Batch | undefined {
    return this.#open
  }

  get hasClosed(): boolean {
    return this.#closed.length > 0
  }

  /** Whether anything is left that has no outcome. */
  get isEmpty(): boolean {
    return this.#open === undefined && this.#closed.length === 0 && this.window.isEmpty
  }

  /** Whether something is to be sent, as far as filling and lingering go. */
  hasWork(now: number): boolean {
    return this.window.hasRetries || this.#closed.length > 0 || this.#isOpenDue(now)
  }

  #isOpenDue(now: number): boolean {
    return this.#open !== undefined && this.#open.dueAt <= now + timerToleranceMs
  }

  /** Writes a record; returns the batch if a new one had to be opened for it. Throws when the record is not one. */
  append(
    timestamp: number,
    key: BytesInput,
    value: BytesInput,
    headers: HeadersInput | undefined,
    delivery: Delivery,
    index: number,
    newBatch: (expectedBytes: number) => Batch,
  ): Batch | undefined {
    const open = this.#open
    if (open !== undefined) {
      if (open.append(timestamp, key, value, headers, delivery, index)) return undefined
      this.close()
    }
    const batch = newBatch(this.#usualBytes)
    try {
      batch.append(timestamp, key, value, headers, delivery, index)
    } catch (error) {
      batch.discard()
      throw error
    }
    this.#open = batch
    return batch
  }

  /** The open batch takes no more records. */
  close(): void {
    if (this.#open === undefined) return
    const bytes = this.#open.sizeInBytes
    this.#usualBytes = bytes > this.#usualBytes ? bytes : (3 * this.#usualBytes + bytes) >> 2
    this.#closed.push(this.#open)
    this.#open = undefined
  }

  /** The batch to send to this broker, its leader, if one may go now. */
  take(nodeId: number, now: number): Batch | undefined {
    return this.window.take(nodeId, () => {
      if (this.#closed.length === 0 && this.#isOpenDue(now)) this.close()
      return this.#closed.shift()
    })
  }

  /** All batches without an outcome, in order. */
  *batches(): Iterable<Batch> {
    yield* this.window.batches()
    yield* this.#undrained()
  }

  *#undrained(): Iterable<Batch> {
    yield* this.#closed
    if (this.#open !== undefined) yield this.#open
  }

  /** Fails what `isOver`, with an error that tells whether the batch may have been written. */
  fail(isOver: (batch: Batch) => boolean, errorOf: (batch: Batch, maybeWritten: boolean) => KafkaError): void {
    this.window.fail(isOver, errorOf)
    for (const batch of [...this.#undrained()]) {
      if (!isOver(batch)) continue
      this.#drop(batch)
      const error = errorOf(batch, false)
      batch.fail(() => error)
    }
  }

  /** Ends one send()'s part in this partition: what is not drained is taken out, of the rest it is no longer told. */
  cancel(delivery: Delivery, errorOf: (maybeWritten: boolean) => KafkaError): void {
    for (const batch of this.window.batches()) batch.recipients.failOf(delivery, errorOf(true))
    for (const batch of [...this.#undrained()]) {
      batch.cut(delivery, errorOf(false))
      if (batch.count > 0) continue
      this.#drop(batch)
      batch.discard()
    }
  }

  #drop(batch: Batch): void {
    if (batch === this.#open) this.#open = undefined
    else this.#closed.splice(this.#closed.indexOf(batch), 1)
  }
}
