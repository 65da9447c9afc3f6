// Brings partitions that have something to send to the sender of their leader, once per turn of the event loop, so that everything
// a turn brought shares a request. Owns the waits: for lingering, backoff, a leader, the producer id.
import type { KafkaError } from '../../errors.js'
import type { Codec } from '../../protocol/records/compression/index.js'
import { backoffMs } from '../../util/backoff.js'
import { atEndOfTurn } from '../../util/clock.js'
import { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'
import { Alarms } from './alarms.js'
import type { PartitionQueue } from './partition-queue.js'
import type { ProducerIdentity } from './producer-identity.js'
import { Sender } from './sender.js'

export interface DispatcherOptions {
  readonly cluster: Cluster
  readonly acks: number
  readonly deliveryTimeoutMs: number
  readonly identity: ProducerIdentity | undefined
  readonly codec: Codec
  /** Nothing can be sent at all, and trying again would not change that. */
  readonly onFatal: (error: unknown) => void
}

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #senders = new Map<number, Sender>()
  readonly #alarms: Alarms<PartitionQueue>
  #dirty: PartitionQueue[] = []
  #awake = new Set<Sender>()
  /** A pass will come: planned, or when what has to be prepared is ready. */
  #isPlanned = false
  #isClosed = false
  #leaderlessRounds = 0

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#alarms = new Alarms(options.cluster.clock, (queue) => this.schedule(queue))
  }

  /** The partition has, or may have, something to send. */
  schedule(queue: PartitionQueue): void {
    if (queue.isScheduled) return
    queue.isScheduled = true
    this.#dirty.push(queue)
    this.#plan()
  }

  /** The partition's open batch is to be looked at again at this time. */
  scheduleAt(queue: PartitionQueue, at: number): void {
    this.#alarms.set(queue, at)
  }

  close(): void {
    this.#isClosed = true
    this.#alarms.clear()
  }

  /** What must be there before the first batch can be drained. */
  async prepare(deadline: Deadline): Promise<void> {
    const { codec, identity } = this.#options
    await codec.load()
    await identity?.obtain(deadline)
  }

  #plan(): void {
    if (this.#isPlanned || this.#isClosed) return
    this.#isPlanned = true
    atEndOfTurn(() => this.#pass())
  }

  #pass(): void {
    if (this.#isClosed) return
    const { codec, identity, cluster } = this.#options
    if ((identity !== undefined && identity.current === undefined) || codec.load() !== null) {
      this.#prepareThenPass()
      return
    }
    this.#isPlanned = false
    const now = cluster.clock.now()
    const dirty = this.#dirty
    const awake = this.#awake
    this.#dirty = []
    this.#awake = new Set()
    for (const queue of dirty) {
      queue.isScheduled = false
      const sender = this.#senderOf(queue, now)
      if (sender === undefined) continue
      sender.offer(queue)
      awake.add(sender)
    }
    for (const sender of awake) sender.drain(now)
  }

  #prepareThenPass(): void {
    const { cluster, deliveryTimeoutMs, onFatal } = this.#options
    this.prepare(new Deadline(cluster.clock, deliveryTimeoutMs)).then(
      () => this.#pass(),
      (error: unknown) => {
        this.#isPlanned = false
        if ((error as KafkaError).code !== 'TIMEOUT') onFatal(error)
        // Whoever has still something to send tries again; after a timeout those whose own time is not over.
        const dirty = this.#dirty
        this.#dirty = []
        for (const queue of dirty) {
          queue.isScheduled = false
          if (!queue.isEmpty) this.schedule(queue)
        }
      },
    )
  }

  #senderOf(queue: PartitionQueue, now: number): Sender | undefined {
    if (queue.sleepsUntil > now) {
      this.#alarms.set(queue, queue.sleepsUntil)
      return undefined
    }
    if (!queue.hasWork(now)) {
      if (queue.open !== undefined) this.#alarms.set(queue, queue.open.dueAt)
      return undefined
    }
    const { leaderId } = queue
    if (leaderId >= 0) {
      this.#leaderlessRounds = 0
      return this.#sender(leaderId)
    }
    const { cluster } = this.#options
    const { retryBackoffMs, retryBackoffMaxMs } = cluster.config
    cluster.refresh(`${queue.name} has no leader`)
    this.#alarms.set(
      queue,
      now + backoffMs({ baseMs: retryBackoffMs, maxMs: retryBackoffMaxMs }, ++this.#leaderlessRounds),
    )
    return undefined
  }

  #sender(nodeId: number): Sender {
    let sender = this.#senders.get(nodeId)
    if (sender === undefined) {
      sender = new Sender(nodeId, {
        cluster: this.#options.cluster,
        acks: this.#options.acks,
        schedule: (queue) => this.schedule(queue),
        wake: (woken) => {
          this.#awake.add(woken)
          this.#plan()
        },
      })
      this.#senders.set(nodeId, sender)
    }
    return sender
  }
}
