// The caller's own partition function, with its answer checked.
import { UsageError } from '../../../errors.js'
import type { BytesInput } from '../../../protocol/records/batch-builder.js'
import { shown } from '../../../util/options.js'
import type { Partitioner, PartitionFunction, PartitionsView } from './partitioner.js'

export class OwnFunction implements Partitioner {
  readonly #choose: PartitionFunction

  constructor(choose: PartitionFunction) {
    this.#choose = choose
  }

  choose(key: BytesInput, value: BytesInput, { topic, count, available }: PartitionsView): number {
    const chosen: unknown = this.#choose({ topic, key, value, partitionCount: count, available })
    if (Number.isInteger(chosen) && (chosen as number) >= 0 && (chosen as number) < count) return chosen as number
    throw new UsageError(
      `the partitioner must return an integer of 0-${count - 1} for topic ${topic}, got ${shown(chosen)}`,
    )
  }

  wrote(): void {}
}
