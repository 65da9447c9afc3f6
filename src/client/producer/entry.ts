// A record that cannot be written into a batch yet: it waits for room in the budget, or for its topic's partitions to be known.
import type { BytesInput, HeadersInput } from '../../protocol/records/batch-builder.js'
import type { Waiter } from './budget.js'
import type { Delivery } from './delivery.js'

export interface RecordParts {
  readonly key: BytesInput
  readonly value: BytesInput
  readonly headers: HeadersInput | undefined
  readonly timestamp: number
  /** Undefined: the partitioner decides. */
  readonly partition: number | undefined
}

export class Entry implements Waiter {
  readonly topic: string
  readonly parts: RecordParts
  readonly delivery: Delivery
  readonly index: number
  readonly bytes: number
  readonly deadlineAt: number
  readonly #admit: (entry: Entry) => void

  constructor(
    topic: string,
    parts: RecordParts,
    delivery: Delivery,
    index: number,
    bytes: number,
    deadlineAt: number,
    admit: (entry: Entry) => void,
  ) {
    this.topic = topic
    this.parts = parts
    this.delivery = delivery
    this.index = index
    this.bytes = bytes
    this.deadlineAt = deadlineAt
    this.#admit = admit
  }

  admit(): void {
    this.#admit(this)
  }
}
