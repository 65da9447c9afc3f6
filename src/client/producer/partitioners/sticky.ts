// Stays with one partition until it has had its share of bytes, then takes another at random (KIP-794): large batches, and all
// partitions get the same in the long run. Partitions without a leader are left out as long as any has one.
import type { BytesInput } from '../../../protocol/records/batch-builder.js'
import type { Partitioner, PartitionsView } from './partitioner.js'

/** As in the Java client, whose default is its batch size. */
const shareBytes = 16_384

export class Sticky implements Partitioner {
  #partition = -1
  #bytes = 0
  readonly #random: () => number

  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  choose(_key: BytesInput, _value: BytesInput, { count, available }: PartitionsView): number {
    const isStale = this.#partition >= count || (available.length < count && !available.includes(this.#partition))
    if (this.#partition < 0 || this.#bytes >= shareBytes || isStale) this.#move(count, available)
    return this.#partition
  }

  wrote(partition: number, bytes: number): void {
    if (partition === this.#partition) this.#bytes += bytes
  }

  #move(count: number, available: readonly number[]): void {
    const size = available.length > 0 ? available.length : count
    let at = Math.floor(this.#random() * size)
    const before = this.#partition
    const partitionAt = (i: number) => (available.length > 0 ? (available[i] as number) : i)
    if (size > 1 && partitionAt(at) === before) at = (at + 1 + Math.floor(this.#random() * (size - 1))) % size
    this.#partition = partitionAt(at)
    this.#bytes = 0
  }
}
