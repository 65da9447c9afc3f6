// Which batches of one fetched answer belong to aborted transactions, as the answer lists them (read_committed).
import { RecordCursor } from '../../protocol/records/record-cursor.js'
import type { RecordBatch } from '../../protocol/records/record-batch.js'

export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

const abortMarker = 0

export class AbortedTransactions {
  // By first offset; Kafka sorts them, look-alikes may not.
  readonly #coming: readonly AbortedTransaction[]
  #next = 0
  readonly #open = new Set<number>()

  constructor(transactions: readonly AbortedTransaction[]) {
    this.#coming = [...transactions].sort((a, b) => a.firstOffset - b.firstOffset)
  }

  /** Must be asked for every batch, in order. True when the batch's records were aborted. */
  covers(batch: RecordBatch): boolean {
    const { lastOffset } = batch
    for (let next = this.#coming[this.#next]; next && next.firstOffset <= lastOffset; next = this.#coming[this.#next]) {
      this.#open.add(next.producerId)
      this.#next++
    }
    if (this.#open.size === 0 || !batch.isTransactional) return false
    if (batch.isControl) {
      if (isAbortMarker(batch)) this.#open.delete(batch.producerId)
      return false
    }
    return this.#open.has(batch.producerId)
  }
}

/** The key of a control record is a version and a type, two bytes each. */
function isAbortMarker(batch: RecordBatch): boolean {
  const cursor = new RecordCursor(batch)
  if (!cursor.next() || cursor.keyLength < 4) return false
  return cursor.bytes.readInt16BE(cursor.keyStart + 2) === abortMarker
}
