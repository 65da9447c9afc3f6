// One broker's produce requests: fills them from the partitions that it leads, keeps at most five in flight, and hands the answers
// to the partitions. It decides nothing about sequences (the window does) and knows no timers (the dispatcher does).
import { isKafkaError, KafkaError } from '../../errors.js'
import { errorByName } from '../../protocol/messages/error-table.js'
import { Produce } from '../../protocol/messages/produce.js'
import { zeroUuid } from '../../protocol/wire/index.js'
import { backoffMs } from '../../util/backoff.js'
import type { Cluster } from '../cluster/index.js'
import type { PartitionQueue } from './partition-queue.js'
import type { Outcome } from './partition-window.js'
import {
  answersOf,
  leaderHint,
  maxVersionFor,
  outcomeOf,
  produceRequest,
  type ProduceResponse,
  type Shipment,
} from './produce-request.js'

/** What brokers remember of a producer's batches per partition, hence what may be in flight (KIP-98). */
const maxInFlight = 5
/** No batch is added to a request of this size. */
const requestBytes = 1 << 20

export interface SenderOptions {
  readonly cluster: Cluster
  readonly acks: number
  /** There may be something to send of this partition; soon. */
  readonly schedule: (queue: PartitionQueue) => void
  /** A place in flight is free again. */
  readonly wake: (sender: Sender) => void
}

export class Sender {
  readonly nodeId: number
  readonly #options: SenderOptions
  /** Partitions that may have something to send, in the order of their turns. */
  readonly #queues = new Set<PartitionQueue>()
  #inFlight = 0

  constructor(nodeId: number, options: SenderOptions) {
    this.nodeId = nodeId
    this.#options = options
  }

  offer(queue: PartitionQueue): void {
    this.#queues.add(queue)
  }

  /** Sends as much as may be sent now. */
  drain(now: number): void {
    while (this.#inFlight < maxInFlight && this.#queues.size > 0) {
      const shipments: Shipment[] = []
      let bytes = 0
      for (const queue of this.#queues) {
        if (bytes >= requestBytes) break
        this.#queues.delete(queue)
        if (queue.leaderId !== this.nodeId || queue.sleepsUntil > now) {
          this.#options.schedule(queue)
          continue
        }
        const batch = queue.take(this.nodeId, now)
        if (batch === undefined) continue // whatever it waits for schedules it again
        const topicId = queue.topic.metadata?.topicId ?? zeroUuid
        const shipment = { queue, batch, bytes: batch.hold(), topicId }
        bytes += shipment.bytes.length
        shipments.push(shipment)
      }
      if (shipments.length === 0) return
      for (const { queue } of shipments) this.#queues.add(queue)
      this.#send(shipments)
    }
  }

  #send(shipments: readonly Shipment[]): void {
    const { cluster, acks } = this.#options
    const { requestTimeoutMs } = cluster.config
    const request = produceRequest(shipments, acks, requestTimeoutMs)
    const options = { channel: 'produce', maxVersion: maxVersionFor(shipments) }
    this.#inFlight++
    const failed = (error: unknown) => this.#failed(shipments, error)
    if (acks === 0) {
      cluster.sendOneWay(this.nodeId, Produce, request, options).then(() => this.#handedOver(shipments), failed)
    } else {
      cluster
        .send(this.nodeId, Produce, request, options)
        .then((response) => this.#answered(shipments, response), failed)
    }
  }

  #answered(shipments: readonly Shipment[], response: ProduceResponse): void {
    this.#free()
    const { cluster } = this.#options
    for (const [shipment, answer] of answersOf(shipments, response)) {
      const { queue } = shipment
      const hint = leaderHint(answer, response)
      const isNews = hint !== undefined && cluster.updateLeader(queue.topic.name, queue.partition, hint)
      this.#settle(shipment, outcomeOf(shipment, answer, this.nodeId), isNews)
    }
  }

  /** With acks 0 there is no answer, and nothing to learn of what the broker does. */
  #handedOver(shipments: readonly Shipment[]): void {
    this.#free()
    for (const shipment of shipments) this.#settle(shipment, { kind: 'written', baseOffset: -1, appendTime: -1 }, false)
  }

  #failed(shipments: readonly Shipment[], cause: unknown): void {
    this.#free()
    const known = isKafkaError(cause) ? cause : undefined
    for (const shipment of shipments) {
      const why = cause instanceof Error ? cause.message : String(cause)
      const message = `Produce to ${shipment.queue.name} on broker ${this.nodeId} failed: ${why}`
      const code = known?.code ?? 'DELIVERY_FAILED'
      const error = new KafkaError(message, { code, retriable: known?.retriable ?? false, cause })
      // A connection that was never made has carried nothing.
      const neverSent = code === 'CONNECTION_FAILED' || code === 'UNSUPPORTED_VERSION'
      this.#settle(shipment, { kind: neverSent ? 'refused' : 'unknown', error }, false)
    }
  }

  #free(): void {
    this.#inFlight--
    if (this.#queues.size > 0) this.#options.wake(this)
  }

  #settle({ queue, batch }: Shipment, outcome: Outcome, isLeaderKnown: boolean): void {
    const isAgain = queue.window.settle(batch, outcome, queue.topic.name, queue.partition)
    if (isAgain && outcome.kind !== 'written')
      this.#retryLater(queue, batch.progress.attempts, outcome.error, isLeaderKnown)
    if (!queue.isEmpty) this.#options.schedule(queue)
  }

  #retryLater(queue: PartitionQueue, attempt: number, error: KafkaError, isLeaderKnown: boolean): void {
    const { cluster } = this.#options
    const { retryBackoffMs, retryBackoffMaxMs } = cluster.config
    // A new leader that is known can be asked at once; but not again and again, in case brokers point at each other.
    const waitMs =
      isLeaderKnown && attempt === 1 ? 0 : backoffMs({ baseMs: retryBackoffMs, maxMs: retryBackoffMaxMs }, attempt)
    queue.sleepsUntil = cluster.clock.now() + waitMs
    // An error without a reaction is the connection's.
    const reaction = errorByName(error.code)?.reaction ?? 'refreshMetadata'
    if (!isLeaderKnown && reaction === 'refreshMetadata') {
      cluster.refresh(`Produce to ${queue.name}: ${error.code}`)
    }
    cluster.events.emit('retry', { what: `Produce to ${queue.name}`, attempt, waitMs, error })
  }
}
