// What a partition remembers of each idempotent producer: its epoch and last five batches (KIP-98). Decides whether a batch is
// new, a duplicate, out of order or from an old epoch, as Kafka's ProducerAppendInfo does.
import { errorCodes } from '../../protocol/messages/error-table.js'

const keptBatches = 5
/** Sequences go from 2^31-1 back to 0. */
const sequences = 2 ** 31

export interface ProducerBatch {
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly lastOffsetDelta: number
  readonly timestamp: number
}

interface KeptBatch {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly lastOffset: number
  readonly offsetDelta: number
  readonly timestamp: number
}

interface ProducerState {
  epoch: number
  batches: KeptBatch[]
  lastUsed: number
}

export type Verdict =
  | { readonly kind: 'new' }
  | { readonly kind: 'duplicate'; readonly baseOffset: number; readonly timestamp: number }
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }

export class ProducerStates {
  readonly #states = new Map<number, ProducerState>()
  #nextLook = 0

  check(batch: ProducerBatch, where: string): Verdict {
    const state = this.#states.get(batch.producerId)
    if (!state) return { kind: 'new' }
    const { producerId, producerEpoch, baseSequence } = batch
    const lastSequence = after(baseSequence, batch.lastOffsetDelta)
    if (producerEpoch === state.epoch) {
      const known = state.batches.find((b) => b.firstSequence === baseSequence && b.lastSequence === lastSequence)
      if (known)
        return { kind: 'duplicate', baseOffset: known.lastOffset - known.offsetDelta, timestamp: known.timestamp }
    }
    if (producerEpoch < state.epoch) {
      const message = `Epoch of producer ${producerId} at offset in ${where} is ${producerEpoch}, which is smaller than the last seen epoch ${state.epoch}`
      return { kind: 'refused', code: errorCodes.INVALID_PRODUCER_EPOCH, message }
    }
    if (producerEpoch > state.epoch) {
      if (baseSequence === 0) return { kind: 'new' }
      const message = `Invalid sequence number for new epoch of producer ${producerId} in ${where}: ${producerEpoch} (request epoch), ${baseSequence} (seq. number), ${state.epoch} (current producer epoch)`
      return { kind: 'refused', code: errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER, message }
    }
    const last = state.batches[state.batches.length - 1]?.lastSequence ?? -1
    if (last === -1 || after(last, 1) === baseSequence) return { kind: 'new' }
    const message = `Out of order sequence number for producer ${producerId} in ${where}: ${baseSequence} (incoming seq. number), ${last} (current end sequence number)`
    return { kind: 'refused', code: errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER, message }
  }

  appended(batch: ProducerBatch, baseOffset: number, now: number): void {
    let state = this.#states.get(batch.producerId)
    if (!state || state.epoch !== batch.producerEpoch) {
      state = { epoch: batch.producerEpoch, batches: [], lastUsed: now }
      this.#states.set(batch.producerId, state)
    }
    state.lastUsed = now
    if (state.batches.length === keptBatches) state.batches.shift()
    state.batches.push({
      firstSequence: batch.baseSequence,
      lastSequence: after(batch.baseSequence, batch.lastOffsetDelta),
      lastOffset: baseOffset + batch.lastOffsetDelta,
      offsetDelta: batch.lastOffsetDelta,
      timestamp: batch.timestamp,
    })
  }

  /** Forgets producers that wrote nothing for as long as producer.id.expiration.ms. */
  expire(now: number, expirationMs: number): void {
    // Looked through once in a while: the order of the map is that of the first writes, not of the last.
    if (now < this.#nextLook) return
    let oldest = now
    for (const [producerId, { lastUsed }] of this.#states) {
      if (now - lastUsed >= expirationMs) this.#states.delete(producerId)
      else oldest = Math.min(oldest, lastUsed)
    }
    this.#nextLook = oldest + expirationMs
  }
}

function after(sequence: number, count: number): number {
  return (sequence + count) % sequences
}
