// The drained batches of one partition whose outcome is not known yet: their sequences, who goes next, what an answer means.
// It keeps order and bytes over retries. It neither sends nor waits; the sender and the dispatcher do.
import type { KafkaError } from '../../errors.js'
import type { Codec } from '../../protocol/records/compression/index.js'
import type { Batch } from './batch.js'
import { sequenceAfter, type Identity, type ProducerIdentity } from './producer-identity.js'
import { withOutcome } from './send-error.js'

/** What one attempt to send a batch came to. */
export type Outcome =
  | { readonly kind: 'written'; readonly baseOffset: number; readonly appendTime: number }
  /** The broker has refused it, or it never left: it is not in the log by this attempt. */
  | {
      readonly kind: 'refused'
      readonly error: KafkaError
      readonly errorOf?: ((at: number) => KafkaError) | undefined
    }
  /** Nobody can tell. */
  | { readonly kind: 'unknown'; readonly error: KafkaError }

interface Sequences {
  readonly identity: Identity
  next: number
  /** A batch of this identity is in the log: the broker knows where the sequence stands. */
  isConfirmed: boolean
}

/** The broker's state of this producer does not fit the batch, which it has therefore not written. */
const sequenceErrors = new Set(['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH'])

export class PartitionWindow {
  /** Undefined for a producer that is not idempotent. */
  readonly #identity: ProducerIdentity | undefined
  readonly #codec: Codec
  /** In the order of their first draining. */
  readonly #inFlight: Batch[] = []
  readonly #retries: Batch[] = []
  #drained = 0
  #nodeId = -1
  #sequences: Sequences | undefined
  /**
   * A batch that had a sequence will never be written, or the broker has lost the sequence: what follows would be refused for
   * ever. The partition goes on under a new epoch as soon as no outcome is unknown, since a batch that may be in the log must
   * not be numbered anew: that would write it twice.
   */
  #isBroken = false

  constructor(identity: ProducerIdentity | undefined, codec: Codec) {
    this.#identity = identity
    this.#codec = codec
  }

  get isEmpty(): boolean {
    return this.#inFlight.length === 0 && this.#retries.length === 0
  }

  get hasRetries(): boolean {
    return this.#retries.length > 0
  }

  /** All batches it holds, in order. */
  *batches(): Iterable<Batch> {
    yield* this.#inFlight
    yield* this.#retries
  }

  /**
   * The batch to send to this broker now, if there is one; `fresh` gives the next that was never sent.
   * - While a retry waits, the others wait behind it: nothing else could keep the order.
   * - While batches are at another broker, none goes to a new leader: it might arrive before them.
   * - The first batch of an identity goes alone. If it failed and a later one were accepted, the broker would take the later one
   *   for the beginning and refuse the first for ever (KAFKA-14359).
   */
  take(nodeId: number, fresh: () => Batch | undefined): Batch | undefined {
    const isBusy = this.#inFlight.length > 0
    if (isBusy && (nodeId !== this.#nodeId || this.#retries.length > 0 || this.#isBroken)) return undefined
    if (this.#isBroken && !this.#retries.some((batch) => batch.progress.maybeWritten) && !this.#beginAnew())
      return undefined
    let batch: Batch | undefined
    if (this.#retries.length > 0) {
      // When the sequence is broken, first those that may be written: sent again as they were, they come out one way or the other.
      const at = this.#isBroken ? this.#retries.findIndex((one) => one.progress.maybeWritten) : 0
      batch = this.#retries.splice(at, 1)[0]!
    } else {
      if (isBusy && this.#sequences?.isConfirmed === false) return undefined
      batch = this.#drain(fresh)
      if (batch === undefined) return undefined
    }
    batch.progress.attempts++
    this.#inFlight.push(batch)
    this.#nodeId = nodeId
    return batch
  }

  #drain(fresh: () => Batch | undefined): Batch | undefined {
    if (this.#identity !== undefined && this.#sequences === undefined) {
      const identity = this.#identity.current
      if (identity === undefined) return undefined
      this.#sequences = { identity, next: 0, isConfirmed: false }
    }
    const batch = fresh()
    if (batch === undefined) return undefined
    batch.progress.order = this.#drained++
    batch.drain(this.#nextStamp(batch), this.#codec)
    return batch
  }

  #nextStamp(batch: Batch) {
    const sequences = this.#sequences
    if (sequences === undefined) return undefined
    const baseSequence = sequences.next
    sequences.next = sequenceAfter(baseSequence, batch.count)
    return { ...sequences.identity, baseSequence }
  }

  /** Starts the sequence at 0 under a new epoch, with those that are to be sent again first. False: a producer id is missing. */
  #beginAnew(): boolean {
    const used = this.#sequences
    if (used !== undefined) {
      const identity = this.#identity?.after(used.identity)
      if (identity === undefined) return false
      this.#sequences = { identity, next: 0, isConfirmed: false }
      for (const batch of this.#retries) batch.restamp(this.#nextStamp(batch)!)
    }
    this.#isBroken = false
    return true
  }

  /** Takes in what an attempt came to. True: the batch is to be sent again. */
  settle(batch: Batch, outcome: Outcome, topic: string, partition: number): boolean {
    this.#remove(this.#inFlight, batch)
    const { progress } = batch
    if (outcome.kind === 'written') {
      if (this.#sequences !== undefined && isOf(this.#sequences.identity, batch)) this.#sequences.isConfirmed = true
      batch.letGo()
      batch.succeed(topic, partition, outcome.baseOffset, outcome.appendTime)
      return false
    }
    batch.letGo()
    const { error } = outcome
    progress.lastError = error
    if (outcome.kind === 'unknown') progress.maybeWritten = true
    const isOutOfSequence = batch.stamp !== undefined && outcome.kind === 'refused' && sequenceErrors.has(error.code)
    if (isOutOfSequence) {
      progress.maybeWritten = false
      // Behind one that is still to be written it is only a consequence of that.
      if (this.#isFirst(batch)) this.#isBroken = true
    }
    if (!batch.isSettled && (error.retriable || isOutOfSequence)) {
      this.#putBack(batch)
      return true
    }
    if (batch.stamp !== undefined) this.#isBroken = true
    const errorOf = (outcome.kind === 'refused' ? outcome.errorOf : undefined) ?? (() => error)
    batch.fail((at) => withOutcome(errorOf(at), progress.maybeWritten))
    return false
  }

  #isFirst(batch: Batch): boolean {
    for (const other of this.batches()) {
      if (other.progress.order < batch.progress.order && !other.isSettled) return false
    }
    return true
  }

  #putBack(batch: Batch): void {
    let at = this.#retries.length
    while (at > 0 && this.#retries[at - 1]!.progress.order > batch.progress.order) at--
    this.#retries.splice(at, 0, batch)
  }

  #remove(from: Batch[], batch: Batch): void {
    const at = from.indexOf(batch)
    if (at >= 0) from.splice(at, 1)
  }

  /** Fails what `isOver`; a batch that is in flight stays, without anybody waiting for it, until its answer is there. */
  fail(isOver: (batch: Batch) => boolean, errorOf: (batch: Batch, maybeWritten: boolean) => KafkaError): void {
    for (const batch of this.#inFlight) {
      if (batch.isSettled || !isOver(batch)) continue
      const error = errorOf(batch, true)
      batch.fail(() => error)
    }
    for (const batch of [...this.#retries]) {
      if (!isOver(batch)) continue
      this.#remove(this.#retries, batch)
      if (batch.stamp !== undefined) this.#isBroken = true
      const error = errorOf(batch, batch.progress.maybeWritten)
      batch.fail(() => error)
    }
  }
}

function isOf(identity: Identity, { stamp }: Batch): boolean {
  return stamp?.producerId === identity.producerId && stamp.producerEpoch === identity.producerEpoch
}
