// Records of one partition that are sent together: their bytes, and who waits for their outcome. Which batch goes when, and under
// which sequence, is the window's business.
import { UsageError, type KafkaError } from '../../errors.js'
import { BatchBuilder, type BytesInput, type HeadersInput } from '../../protocol/records/batch-builder.js'
import type { Codec } from '../../protocol/records/compression/index.js'
import type { Budget } from './budget.js'
import type { Delivery } from './delivery.js'
import type { Stamp } from './producer-identity.js'
import { Recipients } from './recipients.js'

interface Progress {
  /** Counts the batches of a partition in the order of their first draining. */
  order: number
  attempts: number
  /** An attempt ended without an answer that tells. */
  maybeWritten: boolean
  lastError: KafkaError | undefined
}

export class Batch {
  /** Monotonic times: when it may go though it is not full, and when it has failed. */
  dueAt: number
  deadlineAt: number
  /** What happened to it so far; filled by the window. */
  readonly progress: Progress = { order: -1, attempts: 0, maybeWritten: false, lastError: undefined }
  readonly recipients = new Recipients()
  readonly #builder: BatchBuilder
  readonly #budget: Budget
  #charged = 0
  #bytes: Buffer | undefined
  #stamp: Stamp | undefined
  #isSettled = false
  #isHeld = false

  constructor(budget: Budget, maxBytes: number, expectedBytes: number, dueAt: number, deadlineAt: number) {
    this.#budget = budget
    this.#builder = new BatchBuilder(maxBytes, expectedBytes)
    this.dueAt = dueAt
    this.deadlineAt = deadlineAt
  }

  get count(): number {
    return this.#builder.count
  }

  get sizeInBytes(): number {
    return this.#builder.sizeInBytes
  }

  /** Its place in the producer's sequence; undefined before it is drained and for producers that are not idempotent. */
  get stamp(): Stamp | undefined {
    return this.#stamp
  }

  /** All its records have their outcome, though the broker may still be at it. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** False when there is no room. Throws when the record is not one. */
  append(
    timestamp: number,
    key: BytesInput,
    value: BytesInput,
    headers: HeadersInput | undefined,
    delivery: Delivery,
    index: number,
  ): boolean {
    if (this.#builder.append(timestamp, key, value, headers) < 0) return false
    this.recipients.add(delivery, index, timestamp)
    const grown = this.#builder.sizeInBytes - this.#charged
    this.#charged += grown
    this.#budget.take(grown)
    return true
  }

  /** Takes one send()'s records out and fails them with the error; only before draining. */
  cut(delivery: Delivery, error: KafkaError): void {
    if (this.#bytes !== undefined) throw new UsageError('a drained batch cannot lose records')
    this.recipients.failOf(delivery, error)
    const places = this.recipients.remove(delivery)
    for (let i = places.length - 1; i >= 0; i--) this.#builder.cut(places[i]!)
    const charged = this.#builder.count === 0 ? 0 : this.#builder.sizeInBytes
    const freed = this.#charged - charged
    this.#charged = charged
    if (freed > 0) this.#budget.release(freed)
  }

  /** Freezes the batch: from now on only {@link Batch.restamp} changes its bytes. */
  drain(stamp: Stamp | undefined, codec: Codec): void {
    this.#stamp = stamp
    this.#bytes = this.#builder.seal({ ...stamp, codec })
  }

  /** Gives it another place in the sequence; only when it is known not to be in the log. */
  restamp(stamp: Stamp): void {
    this.#stamp = stamp
    this.#bytes = this.#builder.reseal(stamp)
  }

  /** The bytes to send; the memory is kept until the matching {@link Batch.letGo}. */
  hold(): Buffer {
    if (this.#bytes === undefined) throw new UsageError('the batch is not drained')
    this.#isHeld = true
    return this.#bytes
  }

  /** The socket is done with the bytes. */
  letGo(): void {
    this.#isHeld = false
    this.#releaseIfDone()
  }

  succeed(topic: string, partition: number, baseOffset: number, appendTime: number): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.recipients.succeed(topic, partition, baseOffset, appendTime)
    this.#releaseIfDone()
  }

  fail(errorOf: (at: number) => KafkaError): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.recipients.fail(errorOf)
    this.#releaseIfDone()
  }

  /** Gives memory and budget back, if nobody needs them any more. */
  #releaseIfDone(): void {
    if (!this.#isSettled || this.#isHeld || this.#charged < 0) return
    this.#builder.release()
    const charged = this.#charged
    this.#charged = -1
    this.#budget.release(charged)
  }

  /** Forgets a batch that has no records. */
  discard(): void {
    this.#isSettled = true
    this.#releaseIfDone()
  }
}
