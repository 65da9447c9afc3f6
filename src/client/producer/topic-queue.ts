// One topic on the way out: its partitions' queues, its partitioner, and the records that wait until the partitions are known.
import { UsageError } from '../../errors.js'
import type { BytesInput } from '../../protocol/records/batch-builder.js'
import type { TopicMetadata } from '../cluster/index.js'
import type { Entry } from './entry.js'
import type { PartitionQueue } from './partition-queue.js'
import type { Partitioner, PartitionsView } from './partitioners/index.js'

export class TopicQueue {
  readonly name: string
  readonly partitioner: Partitioner
  /** Records that wait for the partitions to be known, in order. */
  readonly parked = new Set<Entry>()
  isLookedUp = false
  readonly #newQueue: (topic: TopicQueue, partition: number) => PartitionQueue
  readonly #queues: PartitionQueue[] = []
  #metadata: TopicMetadata | undefined
  #view: PartitionsView

  constructor(
    name: string,
    partitioner: Partitioner,
    newQueue: (topic: TopicQueue, partition: number) => PartitionQueue,
  ) {
    this.name = name
    this.partitioner = partitioner
    this.#newQueue = newQueue
    this.#view = { topic: name, count: 0, available: [] }
  }

  get metadata(): TopicMetadata | undefined {
    return this.#metadata
  }

  get queues(): readonly PartitionQueue[] {
    return this.#queues
  }

  get partitionCount(): number {
    return this.#view.count
  }

  /** Records can be given to partitions now, and none has waited for that longer. */
  get isOpen(): boolean {
    return this.#view.count > 0 && this.parked.size === 0
  }

  /** Takes in what is known now; `undefined` and errors keep what was known, since partitions do not vanish with a failed answer. */
  update(metadata: TopicMetadata | undefined): void {
    if (metadata === undefined || metadata === this.#metadata || metadata.partitions.length === 0) return
    this.#metadata = metadata
    const available = metadata.partitions.flatMap(({ partition, leaderId }) => (leaderId >= 0 ? [partition] : []))
    this.#view = { topic: this.name, count: metadata.partitions.length, available }
    for (let partition = this.#queues.length; partition < metadata.partitions.length; partition++) {
      this.#queues.push(this.#newQueue(this, partition))
    }
  }

  /** Where a record goes; throws when its own wish cannot be met. */
  choose(partition: number | undefined, key: BytesInput, value: BytesInput): PartitionQueue {
    const chosen = partition ?? this.partitioner.choose(key, value, this.#view)
    const queue = this.#queues[chosen]
    if (queue !== undefined && chosen < this.#view.count) return queue
    throw new UsageError(`topic ${this.name} has partitions 0-${this.#view.count - 1}, got partition ${chosen}`)
  }
}
