// The public Producer: checks what it is given, turns it into bytes, hands it on, and closes. The work is in the parts.
import { abortedError, KafkaError, timeoutError, UsageError } from '../../errors.js'
import type { BytesInput } from '../../protocol/records/batch-builder.js'
import { codecByName } from '../../protocol/records/compression/index.js'
import { checkWait, Deadline, type WaitOptions } from '../../util/deadline.js'
import { shown } from '../../util/options.js'
import { Cluster, type ClusterEvents } from '../cluster/index.js'
import { topicName, type Serde, type TopicLike } from '../serde/index.js'
import { Accumulator } from './accumulator.js'
import { ArrayDelivery, SingleDelivery, type Delivery } from './delivery.js'
import { Dispatcher } from './dispatcher.js'
import { resolveProducerOptions, type ProducerConfig, type ProducerOptions } from './options.js'
import { PartitionWindow } from './partition-window.js'
import { ProducerIdentity } from './producer-identity.js'
import { withOutcome } from './send-error.js'
import type { TopicQueue } from './topic-queue.js'
import type { Message, ProducerRecord, RecordMetadata } from './types.js'

/** What a producer tells: see {@link ClusterEvents}; 'retry' also comes for batches that are sent again. */
export type ProducerEvents = ClusterEvents

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a message of any topic
type AnyMessage = Message<any>

/**
 * Writes records. One is enough for a program; it may be used from everywhere at once, and keeps the order of send() in each partition.
 *
 * @example
 * const producer = new Producer({ brokers: ['localhost:9092'] })
 * const { partition, offset } = await producer.send('audit', { key: 'c-7', value: 'created' })
 * await producer.close()
 */
export class Producer {
  readonly #config: ProducerConfig
  readonly #cluster: Cluster
  readonly #accumulator: Accumulator
  readonly #dispatcher: Dispatcher
  readonly #endMetadata: () => void
  #closing: Promise<void> | undefined

  /** Connects at the first send(), or by connect(). @throws UsageError (INVALID_OPTION) */
  constructor(options: ProducerOptions) {
    this.#config = resolveProducerOptions(options)
    const { acks, compression, deliveryTimeoutMs, idempotent } = this.#config
    const cluster = new Cluster(this.#config, 'Producer')
    const identity = idempotent ? new ProducerIdentity(cluster) : undefined
    const codec = codecByName(compression)
    const dispatcher = new Dispatcher({
      cluster,
      acks,
      deliveryTimeoutMs,
      identity,
      codec,
      onFatal: (error) => this.#accumulator.failAll(() => error as KafkaError),
    })
    this.#cluster = cluster
    this.#dispatcher = dispatcher
    this.#accumulator = new Accumulator({
      ...this.#config,
      cluster,
      newWindow: () => new PartitionWindow(identity, codec),
      onWork: (queue) => dispatcher.schedule(queue),
      onLinger: (queue, dueAt) => dispatcher.scheduleAt(queue, dueAt),
    })
    this.#endMetadata = cluster.onMetadata(() => this.#accumulator.onMetadata())
  }

  /** Bytes of records that have no outcome yet; at most `bufferBytes`. */
  get bufferedBytes(): number {
    return this.#accumulator.bufferedBytes
  }

  /**
   * Reaches the cluster now instead of at the first send(), to fail early.
   * @param options `timeoutMs` is connectTimeoutMs unless given
   */
  async connect(options: WaitOptions = {}): Promise<void> {
    this.#checkOpen()
    const deadline = this.#deadline(options, this.#config.connectTimeoutMs)
    await this.#cluster.connect(deadline)
    await this.#dispatcher.prepare(deadline)
  }

  /**
   * Sends a record, or an array of them with one promise.
   *
   * A record's bytes must not be changed before its outcome is known. The promise resolves with where the record is, in the order given;
   * it rejects with the record's error, or for an array with a {@link SendError} that has each record's outcome. `maybeWritten` of an
   * error tells whether the record may be in the log nevertheless.
   *
   * @param options `signal` and `timeoutMs` end the send() before deliveryTimeoutMs does. A record that has no place in a batch on its way
   * yet is then not sent at all.
   */
  send<T extends TopicLike>(record: ProducerRecord<T>, options?: WaitOptions): Promise<RecordMetadata>
  send<T extends TopicLike>(records: readonly ProducerRecord<T>[], options?: WaitOptions): Promise<RecordMetadata[]>
  send<T extends TopicLike>(topic: T, message: Message<T>, options?: WaitOptions): Promise<RecordMetadata>
  send<T extends TopicLike>(topic: T, messages: readonly Message<T>[], options?: WaitOptions): Promise<RecordMetadata[]>
  send(
    first: TopicLike | ProducerRecord | readonly ProducerRecord[],
    second?: AnyMessage | readonly AnyMessage[] | WaitOptions,
    third?: WaitOptions,
  ): Promise<RecordMetadata | RecordMetadata[]> {
    try {
      this.#checkOpen()
      if (Array.isArray(first))
        return this.#sendRecords(first as readonly ProducerRecord[], second as WaitOptions | undefined)
      if (typeof first === 'object' && first !== null && 'topic' in first) {
        return this.#sendOne(first.topic, first, second as WaitOptions | undefined)
      }
      const topic = first as TopicLike
      if (Array.isArray(second)) return this.#sendMessages(topic, second as readonly AnyMessage[], third)
      return this.#sendOne(topic, second as AnyMessage, third)
    } catch (error) {
      return Promise.reject(withOutcome(error as KafkaError, false))
    }
  }

  #sendOne(topic: TopicLike, message: AnyMessage, options: WaitOptions | undefined): Promise<RecordMetadata> {
    const queue = this.#topic(topic)
    this.#checkWait(options)
    const delivery = new SingleDelivery()
    this.#accept(topic, queue, message, this.#cluster.clock.date(), delivery, 0)
    if (options !== undefined) this.#watch(delivery, options)
    return delivery.promise
  }

  #sendMessages(
    topic: TopicLike,
    messages: readonly AnyMessage[],
    options: WaitOptions | undefined,
  ): Promise<RecordMetadata[]> {
    const queue = this.#topic(topic)
    this.#checkWait(options)
    const delivery = new ArrayDelivery(messages.length)
    const now = this.#cluster.clock.date()
    for (let i = 0; i < messages.length; i++) this.#accept(topic, queue, messages[i]!, now, delivery, i)
    if (options !== undefined) this.#watch(delivery, options)
    return delivery.promise
  }

  #sendRecords(records: readonly ProducerRecord[], options: WaitOptions | undefined): Promise<RecordMetadata[]> {
    this.#checkWait(options)
    const delivery = new ArrayDelivery(records.length)
    const now = this.#cluster.clock.date()
    for (let i = 0; i < records.length; i++) {
      const record = records[i]!
      try {
        this.#accept(record.topic, this.#topic(record.topic), record, now, delivery, i)
      } catch (error) {
        delivery.fail(i, withOutcome(asUsageError(error), false))
      }
    }
    if (options !== undefined) this.#watch(delivery, options)
    return delivery.promise
  }

  #topic(topic: TopicLike): TopicQueue {
    const name = typeof topic === 'string' ? topic : topic?.name
    return this.#accumulator.find(name) ?? this.#accumulator.topic(topicName(topic))
  }

  #accept(
    topic: TopicLike,
    queue: TopicQueue,
    message: AnyMessage,
    now: number,
    delivery: Delivery,
    index: number,
  ): void {
    let key: BytesInput
    let value: BytesInput
    let timestamp = now
    if (typeof message !== 'object' || message === null) {
      const error = new UsageError(`send: a message must be an object, got ${shown(message)}`)
      delivery.fail(index, withOutcome(error, false))
      return
    }
    const { partition, headers } = message
    try {
      const isTyped = typeof topic !== 'string'
      key = message.key == null ? null : encoded('key', isTyped ? topic.key : undefined, message.key)
      value = message.value === null ? null : encoded('value', isTyped ? topic.value : undefined, message.value)
      if (message.timestamp !== undefined) timestamp = checkedTimestamp(message.timestamp)
      if (partition !== undefined && !(Number.isInteger(partition) && partition >= 0)) {
        throw new UsageError(`partition must be an integer from 0 on, got ${shown(partition)}`)
      }
    } catch (error) {
      delivery.fail(index, withOutcome(asUsageError(error), false))
      return
    }
    this.#accumulator.add(queue, key, value, headers, timestamp, partition, delivery, index)
  }

  /** Ends the send() when its signal fires or its time is over; leaves no listener and no timer when it is settled before. */
  #watch(delivery: Delivery, { signal, timeoutMs }: WaitOptions): void {
    if (signal === undefined && timeoutMs === undefined) return
    const onAbort = () =>
      this.#accumulator.cancel(delivery, (maybeWritten) =>
        withOutcome(abortedError(signal as AbortSignal, 'send'), maybeWritten),
      )
    const onTime = () =>
      this.#accumulator.cancel(delivery, (maybeWritten) =>
        withOutcome(timeoutError('send', timeoutMs as number), maybeWritten),
      )
    signal?.addEventListener('abort', onAbort, { once: true })
    const timer = timeoutMs === undefined ? undefined : this.#cluster.clock.setTimer(timeoutMs, onTime)
    const settle = () => {
      signal?.removeEventListener('abort', onAbort)
      timer?.cancel()
    }
    delivery.promise.then(settle, settle)
  }

  /**
   * Sends what is here without lingering, and resolves when all of it has its outcome, good or bad.
   * @throws KafkaError TIMEOUT or ABORTED; the records go on
   */
  async flush(options: WaitOptions = {}): Promise<void> {
    await this.#accumulator.flush(this.#deadline(options, Infinity), 'flush')
  }

  /**
   * Takes no more records, waits for the outcome of those that are here, and disconnects. What has no outcome when the time is over
   * fails with CLOSED. Safe to call twice.
   * @param options `timeoutMs` is deliveryTimeoutMs unless given
   */
  close(options: WaitOptions = {}): Promise<void> {
    try {
      checkWait('Producer', options)
    } catch (error) {
      return Promise.reject(error)
    }
    this.#closing ??= this.#close(options)
    return this.#closing
  }

  async #close(options: WaitOptions): Promise<void> {
    try {
      await this.#accumulator.flush(this.#deadline(options, this.#config.deliveryTimeoutMs), 'close')
    } catch (error) {
      this.#cluster.logger.warn('the producer was closed before all its records had an outcome', { error })
    } finally {
      this.#accumulator.failAll(closedError)
      this.#accumulator.close()
      this.#dispatcher.close()
      this.#endMetadata()
      await this.#cluster.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Calls the listener at each event of its connections and retries: see {@link ClusterEvents}. */
  on<Name extends keyof ProducerEvents>(name: Name, listener: (event: ProducerEvents[Name]) => unknown): this {
    this.#cluster.events.on(name, listener)
    return this
  }

  once<Name extends keyof ProducerEvents>(name: Name, listener: (event: ProducerEvents[Name]) => unknown): this {
    this.#cluster.events.once(name, listener)
    return this
  }

  off<Name extends keyof ProducerEvents>(name: Name, listener: (event: ProducerEvents[Name]) => unknown): this {
    this.#cluster.events.off(name, listener)
    return this
  }

  #deadline({ timeoutMs, signal }: WaitOptions, fallbackMs: number): Deadline {
    this.#checkWait({ timeoutMs, signal })
    return new Deadline(this.#cluster.clock, timeoutMs ?? fallbackMs, signal)
  }

  #checkWait(options: WaitOptions | undefined): void {
    if (options === undefined) return
    checkWait('Producer', options)
    const { signal } = options
    if (signal?.aborted === true) throw abortedError(signal, 'send')
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw closedError()
  }
}

function closedError(): KafkaError {
  return new UsageError('the producer is closed', 'CLOSED')
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the serde of any topic
function encoded(what: string, serde: Serde<any, any> | undefined, given: unknown): BytesInput {
  const bytes = serde === undefined ? given : serde.serialize(given)
  if (typeof bytes === 'string' || bytes instanceof Uint8Array || bytes === null) return bytes
  throw new UsageError(`${what} must be a string, a Uint8Array or null, got ${shown(bytes)}`)
}

function checkedTimestamp(given: unknown): number {
  const timestamp = given instanceof Date ? given.getTime() : given
  if (Number.isSafeInteger(timestamp) && (timestamp as number) >= 0) return timestamp as number
  throw new UsageError(`timestamp must be a Date or milliseconds from 1970 on, got ${shown(given)}`)
}

function asUsageError(error: unknown): KafkaError {
  if (error instanceof KafkaError) return error
  const why = error instanceof Error ? error.message : shown(error)
  return new UsageError(`the record cannot be serialized: ${why}`, 'INVALID_ARGUMENT', error)
}
