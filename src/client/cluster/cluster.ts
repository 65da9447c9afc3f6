// A client's view of the cluster and its way to it: one per Producer, Consumer, GroupMember or Admin.
// It routes and retries; it knows nothing of records, positions or groups' state.
import { ConnectionError, isKafkaError, KafkaError } from '../../errors.js'
import type { Connection } from '../../net/connection.js'
import type { RequestFor, SendOptions } from '../../net/send-options.js'
import { errorByCode, errorByName, errorCodes, toKafkaError } from '../../protocol/messages/error-table.js'
import type { AnyApi, ResponseOf } from '../../protocol/wire/index.js'
import type { Backoff } from '../../util/backoff.js'
import type { Clock } from '../../util/clock.js'
import { checkWait, Deadline } from '../../util/deadline.js'
import { Events } from '../../util/events.js'
import { Coordinators, describeKey, type CoordinatorKey } from './coordinators.js'
import type { ClusterEvents } from './events.js'
import type { Logger } from './logger.js'
import { MetadataCache } from './metadata-cache.js'
import { fetchMetadata } from './metadata-request.js'
import type { Node } from './node.js'
import { Nodes } from './nodes.js'
import type { ClientConfig } from './options.js'
import type { ClusterSendOptions, RoutedOptions, TopicsOptions } from './request-options.js'
import { withRetries } from './retry.js'
import type { BrokerAddress, LeaderHint, TopicMetadata } from './topic-metadata.js'

const COORDINATOR_CHANNEL = 'coordinator'

export class Cluster {
  readonly config: ClientConfig
  readonly events = new Events<ClusterEvents>()
  readonly #owner: string
  readonly #nodes: Nodes
  readonly #metadata: MetadataCache
  readonly #coordinators: Coordinators
  /** Operations that close() has to end. */
  readonly #running = new Set<AbortController>()
  #closing: Promise<void> | undefined

  /** `owner` is how errors call the client: 'Producer'. */
  constructor(config: ClientConfig, owner: string) {
    this.config = config
    this.#owner = owner
    this.#nodes = new Nodes({
      config,
      events: this.events,
      clusterId: () => this.#metadata.snapshot.clusterId,
      onTrouble: (node, error) => this.#onTrouble(node, error),
      onMisrouted: (node) => {
        this.#nodes.rebootstrap(`${node.where} is not the broker it was`)
        this.#metadata.refresh()
      },
    })
    this.#metadata = new MetadataCache({
      clock: config.clock,
      maxAgeMs: config.metadataMaxAgeMs,
      backoff: this.#backoff,
      fetch: (topics) => fetchMetadata(this.#nodes, topics, config),
      persist: (attempt) => this.#retryMetadata('Metadata', this.deadline(), attempt),
      onFetched: ({ brokers }) => this.#nodes.update(brokers),
    })
    this.#coordinators = new Coordinators(
      async () => (await this.#nodes.any()).connection,
      (broker) => this.#nodes.add(broker),
    )
  }

  get clock(): Clock {
    return this.config.clock
  }

  get logger(): Logger {
    return this.config.logger
  }

  get isClosed(): boolean {
    return this.#closing !== undefined
  }

  /** A deadline by this cluster's clock; without a time it ends only by its signal (or close()). Throws INVALID_ARGUMENT. */
  deadline(timeoutMs: number = Infinity, signal?: AbortSignal): Deadline {
    checkWait(this.#owner, { timeoutMs, signal })
    return new Deadline(this.clock, timeoutMs, signal)
  }

  /** Reaches the cluster and learns its brokers. Safe to call twice and at once. */
  async connect(deadline: Deadline): Promise<void> {
    this.#checkOpen()
    if (this.#metadata.hasBeenFetched) return
    await this.#retryMetadata('connecting', deadline, () => this.#metadata.update([]))
  }

  /** Ends everything; what is pending fails with CLOSED. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const error = this.#closedError()
    for (const operation of this.#running) operation.abort(error)
    this.#metadata.close()
    await this.#nodes.close()
  }

  #closedError(): KafkaError {
    return new KafkaError(`the ${this.#owner} is closed`, { code: 'CLOSED' })
  }

  #checkOpen(): void {
    if (this.isClosed) throw this.#closedError()
  }

  // ---- metadata

  /**
   * These topics, from the cache when they are known well, else asked for; they stay in the set that is kept fresh until
   * forget(). With 'wait' (the default) a topic that does not exist yet is asked for again until the deadline (then TIMEOUT
   * with the topic's error as its cause, and the topic is forgotten); final errors are inside, per topic.
   */
  async topics(
    names: readonly string[],
    deadline: Deadline,
    { missing = 'wait' }: TopicsOptions = {},
  ): Promise<ReadonlyMap<string, TopicMetadata>> {
    this.#checkOpen()
    if (!names.every((name) => this.#isKnown(name))) {
      const what = names.length === 1 ? `the metadata of topic ${names[0]}` : `the metadata of ${names.length} topics`
      const isNew = names.filter((name) => !this.cachedTopic(name))
      this.#metadata.use(names)
      try {
        await this.#retryMetadata(what, deadline, async () => {
          await this.#metadata.update(names.filter((name) => !this.#isKnown(name)))
          const unsettled = names.map((name) => this.cachedTopic(name)?.error).find((error) => error?.retriable)
          if (unsettled && missing === 'wait') throw unsettled
        })
      } catch (error) {
        // A topic that was never there must not burden every later request (T10, T83).
        for (const name of isNew) if (!this.#isKnown(name)) this.#metadata.forget(name)
        throw error
      }
      this.#metadata.use(names) // another's failure may have had them forgotten meanwhile
    }
    const found = new Map<string, TopicMetadata>()
    for (const name of names) {
      const topic = this.cachedTopic(name)
      if (!topic) throw toKafkaError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, { what: 'Metadata', topic: name })
      found.set(name, topic)
      if (topic.error && !topic.error.retriable) this.#metadata.forget(name)
    }
    return found
  }

  #isKnown(name: string): boolean {
    const topic = this.cachedTopic(name)
    return topic !== undefined && topic.error === undefined
  }

  /** One topic; throws its error. */
  async topic(name: string, deadline: Deadline): Promise<TopicMetadata> {
    const topics = await this.topics([name], deadline)
    const topic = topics.get(name) as TopicMetadata
    if (topic.error) throw topic.error
    return topic
  }

  /** For hot paths: what is known, or undefined. It may have an error, or partitions without leader. */
  cachedTopic(name: string): TopicMetadata | undefined {
    return this.#metadata.snapshot.topics.get(name)
  }

  /** The name of a topic id that is in the cache. */
  topicName(topicId: string): string | undefined {
    return this.#metadata.topicName(topicId)
  }

  /** As of the last metadata; empty before the first. */
  get brokers(): ReadonlyMap<number, BrokerAddress> {
    return this.#metadata.snapshot.brokers
  }

  get clusterId(): string | null {
    return this.#metadata.snapshot.clusterId
  }

  /** -1: unknown. In KRaft clusters some broker, which passes requests on. */
  get controllerId(): number {
    return this.#metadata.snapshot.controllerId
  }

  /** Has the metadata renewed in the background, soon; many calls make one request. */
  refresh(reason: string): void {
    this.logger.debug(`refreshing metadata: ${reason}`)
    this.#metadata.refresh()
  }

  /** The metadata of all topics in use, asked for after this call. */
  async refreshed(deadline: Deadline): Promise<void> {
    this.#checkOpen()
    await this.#retryMetadata('Metadata', deadline, () => this.#metadata.update())
  }

  /** Keeps this topic fresh no longer. */
  forget(topic: string): void {
    this.#metadata.forget(topic)
  }

  /** Called after every change of the metadata, leader hints included. Returns what ends it. */
  onMetadata(listener: () => void): () => void {
    return this.#metadata.onChange(listener)
  }

  /** What a broker told about a new leader (KIP-951); true when it is news. */
  updateLeader(topic: string, partition: number, hint: LeaderHint): boolean {
    for (const endpoint of hint.nodeEndpoints ?? []) {
      if (endpoint.nodeId === hint.leaderId) this.#nodes.add(endpoint)
    }
    return this.#metadata.applyHint(topic, partition, hint)
  }

  // ---- requests

  /** One attempt on a connection to this broker, opened if need be. Nothing in the answer is interpreted. */
  send<A extends AnyApi>(
    nodeId: number,
    api: A,
    request: RequestFor<A>,
    options: ClusterSendOptions = {},
  ): Promise<ResponseOf<A>> {
    const connection = this.#nodes.get(nodeId)?.openConnection(options.channel ?? 'default')
    if (connection) return connection.send(api, request, options)
    return this.#opened(nodeId, api, options).then((opened) => opened.send(api, request, options))
  }

  /** One attempt without an answer (acks 0): done when the bytes are handed to the system. */
  sendOneWay<A extends AnyApi>(
    nodeId: number,
    api: A,
    request: RequestFor<A>,
    options: ClusterSendOptions = {},
  ): Promise<void> {
    const connection = this.#nodes.get(nodeId)?.openConnection(options.channel ?? 'default')
    if (connection) return connection.sendOneWay(api, request, options)
    return this.#opened(nodeId, api, options).then((opened) => opened.sendOneWay(api, request, options))
  }

  async #opened(nodeId: number, api: AnyApi, options: ClusterSendOptions): Promise<Connection> {
    this.#checkOpen()
    const node = this.#nodes.get(nodeId)
    if (!node) {
      this.refresh(`broker ${nodeId} is not known`)
      throw new ConnectionError(`${api.name}: broker ${nodeId} is not in the cluster's metadata`)
    }
    const opening = node.connection(options.channel ?? 'default')
    const { deadline = options.signal && this.deadline(Infinity, options.signal) } = options
    return deadline ? deadline.race(opening, `${api.name} to ${node.where}`) : opening
  }

  /** The version in which this API goes to the broker, when a connection of the channel is open. */
  versionOf(nodeId: number, api: AnyApi, channel = 'default'): number | undefined {
    return this.#nodes.get(nodeId)?.openConnection(channel)?.versionOf(api)
  }

  /** To whichever broker can be reached, with retries. */
  sendToAny<A extends AnyApi>(api: A, request: RequestFor<A>, options: RoutedOptions<A>): Promise<ResponseOf<A>> {
    return this.#route(api, options, async (perAttempt) => {
      const { connection } = await perAttempt.deadline.race(this.#nodes.any(), api.name)
      return connection.send(api, request, perAttempt)
    })
  }

  /** To the controller (in KRaft clusters: any broker), with retries; NOT_CONTROLLER finds the new one. */
  sendToController<A extends AnyApi>(
    api: A,
    request: RequestFor<A>,
    options: RoutedOptions<A>,
  ): Promise<ResponseOf<A>> {
    let isKnown = this.controllerId >= 0
    return this.#route(
      api,
      options,
      async (perAttempt) => {
        if (!isKnown) await perAttempt.deadline.race(this.#metadata.update([]), 'finding the controller')
        if (this.controllerId < 0) throw toKafkaError(errorCodes.NOT_CONTROLLER, { what: api.name })
        return this.send(this.controllerId, api, request, { ...perAttempt, channel: options.channel })
      },
      () => (isKnown = false),
    )
  }

  /**
   * To the coordinator of a group, found if need be, with retries; NOT_COORDINATOR and a lost connection find the new one.
   * Channel 'coordinator' unless named.
   */
  sendToCoordinator<A extends AnyApi>(
    key: CoordinatorKey,
    api: A,
    request: RequestFor<A>,
    options: RoutedOptions<A>,
  ): Promise<ResponseOf<A>> {
    return this.#route(
      api,
      options,
      async (perAttempt) => {
        const found = this.#coordinators.cached(key) ?? this.#coordinators.find(key)
        const what = `finding the coordinator of ${describeKey(key)}`
        const nodeId = typeof found === 'number' ? found : await perAttempt.deadline.race(found, what)
        return this.send(nodeId, api, request, { ...perAttempt, channel: options.channel ?? COORDINATOR_CHANNEL })
      },
      (error) => {
        const isElsewhere = reactionTo(error) === 'findCoordinator' || error instanceof ConnectionError
        if (isElsewhere) this.forgetCoordinator(key, error.message)
      },
    )
  }

  /** The node id of the coordinator, from the cache or looked up with retries. */
  async coordinator(key: CoordinatorKey, deadline: Deadline): Promise<number> {
    this.#checkOpen()
    const cached = this.#coordinators.cached(key)
    if (cached !== undefined) return cached
    return this.retry(`finding the coordinator of ${describeKey(key)}`, deadline, () => this.#coordinators.find(key))
  }

  forgetCoordinator(key: CoordinatorKey, reason: string): void {
    this.logger.debug(`the coordinator of ${describeKey(key)} has to be found again: ${reason}`)
    this.#coordinators.forget(key)
  }

  async #route<A extends AnyApi>(
    api: A,
    options: RoutedOptions<A>,
    attempt: (perAttempt: SendOptions & { readonly deadline: Deadline }) => Promise<ResponseOf<A>>,
    onFailed: (error: KafkaError) => void = () => {},
  ): Promise<ResponseOf<A>> {
    const { timeoutMs, maxVersion, what = api.name, errorCodeOf = ownErrorCode } = options
    return this.retry(what, options.deadline, async (deadline) => {
      try {
        const response = await attempt({ timeoutMs, maxVersion, deadline })
        const code = errorCodeOf(response)
        if (errorByCode(code).retriable) throw toKafkaError(code, { what })
        return response
      } catch (error) {
        if (isKafkaError(error)) onFailed(error)
        throw error
      }
    })
  }

  /**
   * The one retry layer. The attempt is repeated, with backoff and a 'retry' event, while it throws errors that are retriable
   * until the deadline; where the error table says so, the metadata is renewed in between. It is given a deadline that also
   * ends when the cluster is closed: hand that one down. At the end: TIMEOUT with the last error as its cause.
   */
  retry<T>(what: string, deadline: Deadline, attempt: (deadline: Deadline, attempt: number) => Promise<T>): Promise<T> {
    return this.#repeat(what, deadline, attempt, (error) => {
      if (reactionTo(error) === 'refreshMetadata') this.refresh(error.message)
    })
  }

  /** For what asks for metadata itself. */
  #retryMetadata<T>(what: string, deadline: Deadline, attempt: (deadline: Deadline) => Promise<T>): Promise<T> {
    return this.#repeat(what, deadline, attempt, () => {})
  }

  async #repeat<T>(
    what: string,
    deadline: Deadline,
    attempt: (deadline: Deadline, attempt: number) => Promise<T>,
    react: (error: KafkaError) => void,
  ): Promise<T> {
    this.#checkOpen()
    const onRetry = (error: KafkaError, number: number, waitMs: number) => {
      this.logger.debug(`${what}: attempt ${number} failed, next in ${Math.round(waitMs)} ms: ${error.message}`)
      this.events.emit('retry', { what, attempt: number, waitMs, error })
      react(error)
    }
    return withRetries({ what, deadline, backoff: this.#backoff, running: this.#running, onRetry }, attempt)
  }

  #onTrouble(node: Node, error: KafkaError): void {
    if (this.isClosed) return
    if (node.nodeId === undefined) return
    this.#coordinators.forgetNode(node.nodeId)
    this.refresh(error.message)
  }

  get #backoff(): Backoff {
    const { retryBackoffMs, retryBackoffMaxMs } = this.config
    return { baseMs: retryBackoffMs, maxMs: retryBackoffMaxMs }
  }
}

function ownErrorCode(response: unknown): number {
  const { errorCode } = response as { readonly errorCode?: unknown }
  return typeof errorCode === 'number' ? errorCode : 0
}

function reactionTo(error: KafkaError): string | undefined {
  return errorByName(error.code as 'NONE')?.reaction
}
