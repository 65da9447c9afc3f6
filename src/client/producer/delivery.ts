// The promise of one send(): settles when the last of its records has its outcome. Later outcomes of a settled record are ignored.
import type { KafkaError } from '../../errors.js'
import { SendError } from './send-error.js'
import type { RecordMetadata, SendOutcome } from './types.js'

/** Who is told what became of a record; `index` is its place in the send(). */
export interface Delivery {
  /** Never handed out twice with other types: what send() returned. */
  readonly promise: Promise<unknown>
  succeed(index: number, metadata: RecordMetadata): void
  fail(index: number, error: KafkaError): void
}

export class SingleDelivery implements Delivery {
  readonly promise: Promise<RecordMetadata>
  #resolve!: (metadata: RecordMetadata) => void
  #reject!: (error: KafkaError) => void

  constructor() {
    this.promise = new Promise<RecordMetadata>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  succeed(_index: number, metadata: RecordMetadata): void {
    this.#resolve(metadata)
  }

  fail(_index: number, error: KafkaError): void {
    this.#reject(error)
  }
}

export class ArrayDelivery implements Delivery {
  readonly promise: Promise<RecordMetadata[]>
  readonly #delivered: (RecordMetadata | undefined)[]
  #failures: Map<number, KafkaError> | undefined
  #left: number
  #resolve!: (metadata: RecordMetadata[]) => void
  #reject!: (error: KafkaError) => void

  constructor(count: number) {
    this.#left = count
    this.#delivered = new Array<RecordMetadata | undefined>(count).fill(undefined)
    this.promise = new Promise<RecordMetadata[]>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    if (count === 0) this.#resolve([])
  }

  succeed(index: number, metadata: RecordMetadata): void {
    if (this.#isSettled(index)) return
    this.#delivered[index] = metadata
    this.#settled()
  }

  fail(index: number, error: KafkaError): void {
    if (this.#isSettled(index)) return
    this.#failures ??= new Map()
    this.#failures.set(index, error)
    this.#settled()
  }

  #isSettled(index: number): boolean {
    return this.#delivered[index] !== undefined || this.#failures?.has(index) === true
  }

  #settled(): void {
    if (--this.#left > 0) return
    const failures = this.#failures
    if (failures === undefined) {
      this.#resolve(this.#delivered as RecordMetadata[])
      return
    }
    this.#reject(
      new SendError(
        this.#delivered.map((value, index): SendOutcome => {
          const reason = failures.get(index)
          return reason === undefined
            ? { status: 'fulfilled', value: value as RecordMetadata }
            : { status: 'rejected', reason }
        }),
      ),
    )
  }
}
