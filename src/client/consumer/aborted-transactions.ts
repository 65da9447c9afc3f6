// Which batches of one fetched answer belong to aborted transactions, as the answer lists them (read_committed).
import { readControlBatch } from '../../protocol/records/control-records.js'
import type { RecordBatch } from '../../protocol/records/record-batch.js'

export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

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
      if (readControlBatch(batch)?.type === 'ABORT') this.#open.delete(batch.producerId)
      return false
    }
    return this.#open.has(batch.producerId)
  }
}
