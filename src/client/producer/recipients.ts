// Who gets the outcome of each record of a batch: runs of records of the same send(), in the order of the batch.
import type { KafkaError } from '../../errors.js'
import type { Delivery } from './delivery.js'

export class Recipients {
  // Three arrays instead of an object per run: single sends make a run per record.
  readonly #deliveries: Delivery[] = []
  readonly #firsts: number[] = []
  readonly #counts: number[] = []
  /** Kept only if the records of the batch have different ones. */
  #timestamps: number[] | undefined
  #commonTimestamp = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  add(delivery: Delivery, index: number, timestamp: number): void {
    const last = this.#deliveries.length - 1
    if (last >= 0 && this.#deliveries[last] === delivery && this.#firsts[last]! + this.#counts[last]! === index) {
      this.#counts[last]!++
    } else {
      this.#deliveries.push(delivery)
      this.#firsts.push(index)
      this.#counts.push(1)
    }
    if (this.#timestamps !== undefined) this.#timestamps.push(timestamp)
    else if (this.#size === 0) this.#commonTimestamp = timestamp
    else if (timestamp !== this.#commonTimestamp) {
      this.#timestamps = new Array<number>(this.#size).fill(this.#commonTimestamp)
      this.#timestamps.push(timestamp)
    }
    this.#size++
  }

  /** `appendTime` replaces the records' own timestamps unless it is negative; `baseOffset` is -1 when it is not known. */
  succeed(topic: string, partition: number, baseOffset: number, appendTime: number): void {
    let at = 0
    for (let run = 0; run < this.#deliveries.length; run++) {
      const delivery = this.#deliveries[run]!
      const first = this.#firsts[run]!
      const end = first + this.#counts[run]!
      for (let index = first; index < end; index++, at++) {
        const offset = baseOffset < 0 ? -1 : baseOffset + at
        delivery.succeed(index, {
          topic,
          partition,
          offset,
          timestamp: appendTime < 0 ? this.#timestampOf(at) : appendTime,
        })
      }
    }
  }

  #timestampOf(at: number): number {
    return this.#timestamps === undefined ? this.#commonTimestamp : this.#timestamps[at]!
  }

  /** `errorOf` is asked once for each record, by its place in the batch. */
  fail(errorOf: (at: number) => KafkaError): void {
    let at = 0
    for (let run = 0; run < this.#deliveries.length; run++) {
      const first = this.#firsts[run]!
      for (let i = 0; i < this.#counts[run]!; i++) this.#deliveries[run]!.fail(first + i, errorOf(at++))
    }
  }

  /** Tells one send() alone, wherever its records are in the batch. */
  failOf(delivery: Delivery, error: KafkaError): void {
    for (let run = 0; run < this.#deliveries.length; run++) {
      if (this.#deliveries[run] !== delivery) continue
      for (let i = 0; i < this.#counts[run]!; i++) delivery.fail(this.#firsts[run]! + i, error)
    }
  }

  /** Takes out the records of one send(); returns their places in the batch, ascending. */
  remove(delivery: Delivery): readonly number[] {
    const removed: number[] = []
    let at = 0
    for (let run = 0; run < this.#deliveries.length;) {
      const count = this.#counts[run]!
      if (this.#deliveries[run] === delivery) {
        for (let i = 0; i < count; i++) removed.push(at + i)
        this.#deliveries.splice(run, 1)
        this.#firsts.splice(run, 1)
        this.#counts.splice(run, 1)
      } else {
        run++
      }
      at += count
    }
    for (let i = removed.length - 1; i >= 0; i--) this.#timestamps?.splice(removed[i]!, 1)
    this.#size -= removed.length
    return removed
  }

  /** Every send() that has records here. */
  collect(into: Set<Delivery>): void {
    for (const delivery of this.#deliveries) into.add(delivery)
  }
}
