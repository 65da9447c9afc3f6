// One partition after another, keys or not; those without a leader are left out as long as any has one.
import type { BytesInput } from '../../../protocol/records/batch-builder.js'
import type { Partitioner, PartitionsView } from './partitioner.js'

export class RoundRobin implements Partitioner {
  #next = 0

  choose(_key: BytesInput, _value: BytesInput, { count, available }: PartitionsView): number {
    const turn = this.#next
    this.#next = (turn + 1) % 0x7fffffff
    return available.length > 0 ? (available[turn % available.length] as number) : turn % count
  }

  wrote(): void {}
}
