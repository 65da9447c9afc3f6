// The producer id of an idempotent producer, and the sequences that each partition counts under it. Epochs are counted by
// partition: brokers check them so, and a partition in trouble then disturbs no other (KIP-360, as the Java client bumps locally).
import { UsageError } from '../../errors.js'
import { InitProducerId } from '../../protocol/messages/init-producer-id.js'
import { toKafkaError } from '../../protocol/messages/error-table.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'

export interface Identity {
  readonly producerId: number
  readonly producerEpoch: number
}

/** A batch's place in the sequence of its partition. */
export interface Stamp extends Identity {
  readonly baseSequence: number
}

const lastEpoch = 0x7fff
/** Without a transactional id brokers do not look at the transaction timeout. */
const noTransactionTimeout = 0x7fffffff

export class ProducerIdentity {
  readonly #cluster: Cluster
  #current: Identity | undefined

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get current(): Identity | undefined {
    return this.#current
  }

  /** Gets a producer id unless there is one. Not shared: one caller's deadline and signal must not end another's wait. */
  async obtain(deadline: Deadline): Promise<void> {
    if (this.#current !== undefined) return
    const request = { transactionalId: null, transactionTimeoutMs: noTransactionTimeout }
    const what = 'getting a producer id'
    const answer = await this.#cluster.sendToAny(InitProducerId, request, { deadline, what })
    if (answer.errorCode !== 0) throw toKafkaError(answer.errorCode, { what })
    this.#current ??= { producerId: answer.producerId, producerEpoch: answer.producerEpoch }
  }

  /**
   * The identity under which a partition starts its sequence anew; undefined when a new producer id has to be obtained first.
   */
  after(used: Identity): Identity | undefined {
    if (this.#current !== undefined && this.#current.producerId !== used.producerId) return this.#current
    if (used.producerEpoch < lastEpoch) return { ...used, producerEpoch: used.producerEpoch + 1 }
    this.#current = undefined
    return undefined
  }
}

/** The sequence after `count` records; it wraps at 2^31. */
export function sequenceAfter(sequence: number, count: number): number {
  if (count < 1) throw new UsageError(`a batch has at least one record, got ${count}`)
  return (sequence + count) % 2 ** 31
}
