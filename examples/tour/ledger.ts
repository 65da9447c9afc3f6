// The shop's own book of what it sent: what the brokers acknowledged, and when each order was made. All counts are checked against it.
import type { RecordMetadata } from 'ottla'

export class Ledger {
  /** The timestamps of the orders, by partition and offset. */
  readonly #partitions: number[][]

  constructor(partitionCount: number) {
    this.#partitions = Array.from({ length: partitionCount }, () => [])
  }

  enter(sent: readonly RecordMetadata[]): void {
    for (const { partition, offset, timestamp } of sent) this.#partition(partition)[offset] = timestamp
  }

  /** How many orders each partition has. */
  get counts(): number[] {
    return this.#partitions.map((timestamps) => timestamps.length)
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  /** How many orders there are from this offset on, in all partitions. */
  fromOffset(offset: number): number {
    return this.counts.reduce((sum, count) => sum + Math.max(0, count - offset), 0)
  }

  /** How many orders were made at or after this time. */
  since(time: Date): number {
    return this.#partitions.flat().filter((timestamp) => timestamp >= time.getTime()).length
  }

  #partition(partition: number): number[] {
    const timestamps = this.#partitions[partition]
    if (timestamps === undefined) throw new Error(`the topic has no partition ${partition}`)
    return timestamps
  }
}

/** How often each order was read. */
export class Tally {
  readonly #reads: number[][]

  constructor(partitionCount: number) {
    this.#reads = Array.from({ length: partitionCount }, () => [])
  }

  read(partition: number, firstOffset: number, lastOffset = firstOffset): void {
    const reads = (this.#reads[partition] ??= [])
    for (let offset = firstOffset; offset <= lastOffset; offset++) reads[offset] = (reads[offset] ?? 0) + 1
  }

  /** How many different orders were read. */
  get orders(): number {
    return this.#reads.flat().filter((times) => times > 0).length
  }

  /** How many orders were read more than once, in these partitions or all. */
  readAgain(partitions: readonly number[] = [...this.#reads.keys()]): number {
    return partitions.flatMap((partition) => this.#reads[partition] ?? []).filter((times) => times > 1).length
  }
}
