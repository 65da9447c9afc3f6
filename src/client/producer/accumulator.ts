// Every record between send() and its outcome: written into its partition's batch at once, or waiting for room or for its topic's
// partitions. Owns the budget, lingering and the delivery deadline; sends nothing.
import { isKafkaError, KafkaError } from '../../errors.js'
import { BatchBuilder, type BytesInput, type HeadersInput } from '../../protocol/records/batch-builder.js'
import { Deadline } from '../../util/deadline.js'
import type { Timer } from '../../util/clock.js'
import type { Cluster } from '../cluster/index.js'
import { Batch } from './batch.js'
import { Budget } from './budget.js'
import type { Delivery } from './delivery.js'
import { Entry } from './entry.js'
import { PartitionQueue } from './partition-queue.js'
import type { PartitionWindow } from './partition-window.js'
import { partitionerOf, type PartitionerName, type PartitionFunction } from './partitioners/index.js'
import { ofTopic, tooLarge, toSendFailure } from './record-errors.js'
import { withOutcome } from './send-error.js'
import { TopicQueue } from './topic-queue.js'

export interface AccumulatorOptions {
  readonly cluster: Cluster
  readonly lingerMs: number
  readonly batchBytes: number
  readonly bufferBytes: number
  readonly deliveryTimeoutMs: number
  readonly partitioner: PartitionerName | PartitionFunction
  readonly newWindow: () => PartitionWindow
  /** The partition has something to send; or will have at this monotonic time. */
  readonly onWork: (queue: PartitionQueue) => void
  readonly onLinger: (queue: PartitionQueue, dueAt: number) => void
}

/** A batch of this size does not linger: waiting for more would gain nothing. */
const lingerBytes = 1 << 16
/** What a record takes in a batch beside its key, value and headers, at most. */
const recordOverhead = 100

export class Accumulator {
  readonly #options: AccumulatorOptions
  readonly #budget: Budget
  readonly #topics = new Map<string, TopicQueue>()
  /** How many flush() are waited for. */
  #flushes = 0
  #expiry: Timer | undefined
  readonly #newBatch: (expectedBytes: number) => Batch

  constructor(options: AccumulatorOptions) {
    this.#options = options
    this.#budget = new Budget(options.bufferBytes)
    const { batchBytes, lingerMs, deliveryTimeoutMs, cluster } = options
    this.#newBatch = (expectedBytes) => {
      const now = cluster.clock.now()
      const dueAt = this.#isHurried ? now : now + lingerMs
      return new Batch(this.#budget, batchBytes, expectedBytes, dueAt, now + deliveryTimeoutMs)
    }
  }

  get bufferedBytes(): number {
    return this.#budget.used
  }

  find(name: string): TopicQueue | undefined {
    return this.#topics.get(name)
  }

  topic(name: string): TopicQueue {
    let topic = this.#topics.get(name)
    if (topic === undefined) {
      const { partitioner, newWindow, cluster } = this.#options
      topic = new TopicQueue(
        name,
        partitionerOf(partitioner),
        (owner, partition) => new PartitionQueue(owner, partition, newWindow()),
      )
      topic.update(cluster.cachedTopic(name))
      this.#topics.set(name, topic)
    }
    return topic
  }

  /** Takes a record over; whatever comes of it goes to the delivery. */
  add(
    topic: TopicQueue,
    key: BytesInput,
    value: BytesInput,
    headers: HeadersInput | undefined,
    timestamp: number,
    partition: number | undefined,
    delivery: Delivery,
    index: number,
  ): void {
    if (topic.isOpen && this.#budget.fits(roughSize(key, value, headers))) {
      this.#write(topic, key, value, headers, timestamp, partition, delivery, index, Infinity)
      return
    }
    this.#waitOrWrite(topic, { key, value, headers, timestamp, partition }, delivery, index)
  }

  #write(
    topic: TopicQueue,
    key: BytesInput,
    value: BytesInput,
    headers: HeadersInput | undefined,
    timestamp: number,
    partition: number | undefined,
    delivery: Delivery,
    index: number,
    deadlineAt: number,
  ): void {
    try {
      const queue = topic.choose(partition, key, value)
      const before = this.#budget.used
      const opened = queue.append(timestamp, key, value, headers, delivery, index, this.#newBatch)
      if (partition === undefined) topic.partitioner.wrote(queue.partition, this.#budget.used - before)
      const open = queue.open!
      if (deadlineAt < open.deadlineAt) open.deadlineAt = deadlineAt
      if (opened !== undefined) this.#expireAt(opened.deadlineAt)
      if (open.sizeInBytes >= this.#options.batchBytes) queue.close()
      this.#announce(queue, open, opened !== undefined)
    } catch (error) {
      delivery.fail(index, withOutcome(toSendFailure(error, topic.name), false))
      if (partition !== undefined && partition >= topic.partitionCount) {
        this.#options.cluster.refresh(`${topic.name} was thought to have partition ${partition}`)
      }
    }
  }

  #announce(queue: PartitionQueue, open: Batch, isNew: boolean): void {
    if (queue.isScheduled) return
    const { lingerMs, onWork, onLinger } = this.#options
    const isLarge = open.sizeInBytes >= lingerBytes
    if (isLarge) open.dueAt = -Infinity
    if (lingerMs === 0 || isLarge || this.#isHurried || queue.hasClosed) onWork(queue)
    else if (isNew) onLinger(queue, open.dueAt)
  }

  // ---- records that wait

  #waitOrWrite(topic: TopicQueue, parts: Entry['parts'], delivery: Delivery, index: number): void {
    const { key, value, headers, timestamp, partition } = parts
    let bytes: number
    try {
      bytes = BatchBuilder.sizeOf(key, value, headers)
      if (bytes > this.#budget.limit) throw tooLarge(topic.name, bytes, this.#budget.limit)
    } catch (error) {
      delivery.fail(index, withOutcome(toSendFailure(error, topic.name), false))
      return
    }
    const isRoom = this.#budget.fits(bytes)
    if (topic.isOpen && isRoom) {
      this.#write(topic, key, value, headers, timestamp, partition, delivery, index, Infinity)
      return
    }
    const deadlineAt = this.#options.cluster.clock.now() + this.#options.deliveryTimeoutMs
    this.#expireAt(deadlineAt)
    const entry = new Entry(topic.name, parts, delivery, index, bytes, deadlineAt, (one) => this.#admit(one))
    if (isRoom) {
      this.#park(topic, entry)
    } else {
      this.#budget.wait(entry)
      this.#hurry() // lingering while others wait for the room would help nobody
    }
  }

  /** There is room for the entry now. */
  #admit(entry: Entry): void {
    const topic = this.topic(entry.topic)
    if (topic.isOpen) this.#writeEntry(topic, entry)
    else this.#park(topic, entry)
  }

  #park(topic: TopicQueue, entry: Entry): void {
    this.#budget.take(entry.bytes)
    topic.parked.add(entry)
    this.#lookUp(topic, entry.deadlineAt)
  }

  #unpark(topic: TopicQueue): void {
    for (const entry of topic.parked) {
      // Written before it leaves the queue and the budget: whoever gets its room comes after it.
      this.#writeEntry(topic, entry)
      topic.parked.delete(entry)
      this.#budget.release(entry.bytes)
    }
  }

  #writeEntry(topic: TopicQueue, entry: Entry): void {
    const { key, value, headers, timestamp, partition } = entry.parts
    this.#write(topic, key, value, headers, timestamp, partition, entry.delivery, entry.index, entry.deadlineAt)
  }

  /** Asks for the topic's partitions, on behalf of the first that waits for them. */
  #lookUp(topic: TopicQueue, deadlineAt: number): void {
    if (topic.isLookedUp) return
    topic.isLookedUp = true
    const { cluster } = this.#options
    const deadline = new Deadline(cluster.clock, Math.max(0, deadlineAt - cluster.clock.now()))
    cluster.topics([topic.name], deadline).then(
      (found) => {
        topic.isLookedUp = false
        const metadata = found.get(topic.name)
        topic.update(metadata)
        const error = metadata?.error
        if (error !== undefined) {
          cluster.forget(topic.name) // it must not spoil the requests for others
          this.#failParked(
            topic,
            () => true,
            () => ofTopic(error, topic.name),
          )
        } else if (topic.partitionCount > 0) {
          this.#unpark(topic)
        }
        this.#lookUpAgain(topic)
      },
      (error: unknown) => {
        topic.isLookedUp = false
        const isTimeout = isKafkaError(error) && error.code === 'TIMEOUT'
        const now = cluster.clock.now() + 1
        this.#failParked(
          topic,
          (entry) => !isTimeout || entry.deadlineAt <= now,
          () => (isTimeout ? this.#lateError(topic.name, error.cause ?? error) : toSendFailure(error, topic.name)),
        )
        this.#lookUpAgain(topic)
      },
    )
  }

  /** Some came while the answer was on its way. */
  #lookUpAgain(topic: TopicQueue): void {
    for (const entry of topic.parked) {
      this.#lookUp(topic, entry.deadlineAt)
      return
    }
  }

  #failParked(topic: TopicQueue, isMeant: (entry: Entry) => boolean, errorOf: () => KafkaError): void {
    for (const entry of topic.parked) {
      if (!isMeant(entry)) continue
      topic.parked.delete(entry)
      entry.delivery.fail(entry.index, withOutcome(errorOf(), false))
      this.#budget.release(entry.bytes)
    }
  }

  // ---- the whole

  /** Takes in what the cluster has learnt, and lets whoever waited for it try. */
  onMetadata(): void {
    for (const topic of this.#topics.values()) {
      topic.update(this.#options.cluster.cachedTopic(topic.name))
      for (const queue of topic.queues) if (!queue.isEmpty) this.#options.onWork(queue)
    }
  }

  get #isHurried(): boolean {
    return this.#flushes > 0 || this.#budget.waiting.size > 0
  }

  #hurry(): void {
    const now = this.#options.cluster.clock.now()
    for (const topic of this.#topics.values()) {
      for (const queue of topic.queues) {
        const { open } = queue
        if (open === undefined || open.dueAt <= now) continue
        open.dueAt = now
        this.#options.onWork(queue)
      }
    }
  }

  /** Resolves when everything that is here now has its outcome, good or bad. */
  async flush(deadline: Deadline, what: string): Promise<void> {
    this.#flushes++
    try {
      this.#hurry()
      const outcomes = [...this.#deliveries()].map(({ promise }) => promise)
      await deadline.race(Promise.allSettled(outcomes), what)
    } finally {
      this.#flushes--
    }
  }

  #deliveries(): Set<Delivery> {
    const all = new Set<Delivery>()
    for (const waiter of this.#budget.waiting) all.add((waiter as Entry).delivery)
    for (const topic of this.#topics.values()) {
      for (const { delivery } of topic.parked) all.add(delivery)
      for (const queue of topic.queues) {
        for (const batch of queue.batches()) if (!batch.isSettled) batch.recipients.collect(all)
      }
    }
    return all
  }

  /** Ends one send(): its records that are not drained are taken out, for the others nobody waits any more. */
  cancel(delivery: Delivery, errorOf: (maybeWritten: boolean) => KafkaError): void {
    // First those that wait, so that the room which the others leave does not let them in.
    this.#failWaiting(
      (entry) => entry.delivery === delivery,
      () => errorOf(false),
    )
    for (const topic of this.#topics.values()) for (const queue of topic.queues) queue.cancel(delivery, errorOf)
  }

  /** Fails everything; for closing, and for when nothing can be sent at all. */
  failAll(errorOf: () => KafkaError): void {
    this.#failWaiting(
      () => true,
      () => errorOf(),
    )
    for (const topic of this.#topics.values()) {
      for (const queue of topic.queues)
        queue.fail(
          () => true,
          (_batch, maybeWritten) => withOutcome(errorOf(), maybeWritten),
        )
    }
  }

  #failWaiting(isMeant: (entry: Entry) => boolean, errorOf: () => KafkaError): void {
    for (const waiter of this.#budget.waiting) {
      const entry = waiter as Entry
      if (!isMeant(entry)) continue
      entry.delivery.fail(entry.index, withOutcome(errorOf(), false))
      this.#budget.giveUp(entry)
    }
    for (const topic of this.#topics.values()) this.#failParked(topic, isMeant, errorOf)
  }

  close(): void {
    this.#expiry?.cancel()
    this.#expiry = undefined
  }

  // ---- the delivery deadline

  /** One timer for all: deadlines are later the later a record came, so the first one that is armed is the first that is due. */
  #expireAt(at: number): void {
    if (this.#expiry !== undefined) return
    const { clock } = this.#options.cluster
    this.#expiry = clock.setTimer(Math.max(0, at - clock.now()), () => {
      this.#expiry = undefined
      const next = this.#expire(Math.max(at, clock.now()))
      if (next < Infinity) this.#expireAt(next)
    })
  }

  /** Fails what is late at `now`; returns the next deadline. */
  #expire(now: number): number {
    let next = Infinity
    for (const waiter of this.#budget.waiting) {
      const entry = waiter as Entry
      if (entry.deadlineAt <= now) {
        const message = `no room for the record in bufferBytes (${this.#budget.limit}) within ${this.#options.deliveryTimeoutMs} ms`
        entry.delivery.fail(
          entry.index,
          new KafkaError(message, { code: 'BUFFER_FULL', retriable: true, maybeWritten: false }),
        )
        this.#budget.giveUp(entry)
      } else if (entry.deadlineAt < next) next = entry.deadlineAt
    }
    for (const topic of this.#topics.values()) {
      // Those that wait for the topic's partitions end with their lookup, which knows why.
      for (const queue of topic.queues) {
        queue.fail(
          (batch) => batch.deadlineAt <= now,
          (batch, maybeWritten) => withOutcome(this.#lateError(queue.name, batch.progress.lastError), maybeWritten),
        )
        for (const batch of queue.batches()) if (!batch.isSettled && batch.deadlineAt < next) next = batch.deadlineAt
      }
    }
    return next
  }

  #lateError(where: string, cause: unknown): KafkaError {
    const why = cause instanceof Error ? `; the last failure: ${cause.message}` : ''
    const message = `not delivered to ${where} within ${this.#options.deliveryTimeoutMs} ms (deliveryTimeoutMs)${why}`
    return new KafkaError(message, { code: 'TIMEOUT', retriable: true, cause })
  }
}

/** Not less than what the record takes in a batch of its own. */
function roughSize(key: BytesInput, value: BytesInput, headers: HeadersInput | undefined): number {
  if (headers !== undefined) return Infinity // measured exactly when it comes to that
  return recordOverhead + roughLength(key) + roughLength(value)
}

function roughLength(bytes: BytesInput): number {
  if (bytes === null) return 0
  return typeof bytes === 'string' ? bytes.length * 3 : bytes.length
}
