// One broker at one address: its sockets, one per channel, and the pauses between attempts to reach it.
import { ConnectionError, isKafkaError, KafkaError } from '../../errors.js'
import { formatAddress, type Address } from '../../net/address.js'
import { Connection, type ClosedConnection } from '../../net/connection.js'
import type { AnyApi } from '../../protocol/wire/index.js'
import { backoffMs } from '../../util/backoff.js'
import type { Events } from '../../util/events.js'
import { allowManyListeners } from '../../util/many-listeners.js'
import type { BrokerEvent, ClusterEvents } from './events.js'
import type { ClientConfig } from './options.js'

/** What a node tells the cluster it is part of. */
export interface NodeContext {
  readonly config: ClientConfig
  readonly events: Events<ClusterEvents>
  readonly clusterId: () => string | null
  /** It could not be reached, or broke while requests were waiting: the picture of the cluster may be old. */
  readonly onTrouble: (node: Node, error: KafkaError) => void
  /** The broker at this address says that it is not the one we mean (KIP-1242). */
  readonly onMisrouted: (node: Node) => void
}

interface Channel {
  connection: Connection | undefined
  opening: Promise<Connection> | undefined
  /** Should the connection break, then nothing is dialled before: a broker that accepts and breaks must not be dialled in a loop. */
  retryAt: number
}

export class Node {
  readonly host: string
  readonly port: number
  readonly #context: NodeContext
  readonly #channels = new Map<string, Channel>()
  readonly #closing = new AbortController()
  #nodeId: number | undefined
  #failures = 0
  #retryAt = -Infinity
  #isRetired = false

  /** `nodeId` is undefined for a bootstrap server, which may be any broker. */
  constructor(context: NodeContext, { host, port }: Address, nodeId: number | undefined) {
    this.#context = context
    this.host = host
    this.port = port
    this.#nodeId = nodeId
    allowManyListeners(this.#closing.signal)
  }

  get nodeId(): number | undefined {
    return this.#nodeId
  }

  get where(): string {
    return formatAddress(this)
  }

  /** Whether the last attempt to reach it was a success; true before the first. */
  get seemsReachable(): boolean {
    return this.#failures === 0
  }

  /** A bootstrap server turned out to be this broker: its connections go on under the id. */
  identify(nodeId: number): void {
    this.#nodeId = nodeId
  }

  isAt(address: Address): boolean {
    return this.where === formatAddress(address)
  }

  openConnection(channel: string): Connection | undefined {
    const connection = this.#channels.get(channel)?.connection
    if (!connection?.isOpen) return undefined
    const { clock, connectionMaxIdleMs } = this.#context.config
    if (connection.inFlight > 0 || clock.now() - connection.lastUsedAt < connectionMaxIdleMs) return connection
    // The broker closes idle connections too: a request must not meet that moment (T99).
    connection.drain()
    return undefined
  }

  /** The open connection of the channel, or a new one, one at a time. Waits out the pause after a failure first. */
  connection(name: string): Promise<Connection> {
    const open = this.openConnection(name)
    if (open) return Promise.resolve(open)
    let channel = this.#channels.get(name)
    if (!channel) this.#channels.set(name, (channel = { connection: undefined, opening: undefined, retryAt: 0 }))
    return (channel.opening ??= this.#open(channel))
  }

  async #open(channel: Channel): Promise<Connection> {
    try {
      return await this.#dial(channel)
    } finally {
      channel.opening = undefined
    }
  }

  async #dial(channel: Channel): Promise<Connection> {
    const { config, events } = this.#context
    const { clock } = config
    const { signal } = this.#closing
    try {
      const pauseMs = this.#retryAt - clock.now()
      if (pauseMs > 0) await clock.sleep(pauseMs, signal)
      if (signal.aborted) throw this.#closed()
      channel.retryAt = clock.now() + backoffMs(this.#backoff, this.#failures + 1)
      const clusterId = this.#context.clusterId()
      const connection = await Connection.open({
        host: this.host,
        port: this.port,
        clientId: config.clientId,
        clock,
        requestTimeoutMs: config.requestTimeoutMs,
        connectTimeoutMs: config.connectTimeoutMs,
        maxFrameBytes: config.maxResponseBytes,
        signal,
        expected: this.#nodeId === undefined ? undefined : { clusterId, nodeId: this.#nodeId },
        onClose: (closed) => this.#onClose(channel, closed),
        onThrottle: (throttleTimeMs, api) => this.#onThrottle(throttleTimeMs, api),
      })
      if (signal.aborted) {
        await connection.close()
        throw this.#closed()
      }
      this.#failures = 0
      if (connection.isOpen) channel.connection = connection
      config.logger.debug(`connected to ${this.where}`, { ...this.#event() })
      events.emit('connected', this.#event())
      if (this.#isRetired) queueMicrotask(() => connection.drain())
      return connection
    } catch (error) {
      if (signal.aborted) throw this.#closed()
      throw this.#onFailure(error)
    }
  }

  #onFailure(error: unknown): unknown {
    const { clock, logger } = this.#context.config
    if (!isKafkaError(error)) return error
    this.#failures++
    this.#retryAt = clock.now() + backoffMs(this.#backoff, this.#failures)
    if (error.code === 'REBOOTSTRAP_REQUIRED') {
      this.#context.onMisrouted(this)
      return new ConnectionError(`${this.where} is not the broker it was`, { cause: error })
    }
    if (this.#failures === 1) logger.warn(`broker unreachable: ${error.message}`, { ...this.#event() })
    this.#context.onTrouble(this, error)
    return error
  }

  #onClose(channel: Channel, { error, lostRequests }: ClosedConnection): void {
    if (channel.connection?.isOpen === false) channel.connection = undefined
    if (!error || this.#isRetired) return
    this.#retryAt = Math.max(this.#retryAt, channel.retryAt)
    const { config, events, onTrouble } = this.#context
    config.logger.debug(`disconnected: ${error.message}`, { ...this.#event(), lostRequests })
    if (lostRequests === 0) return
    events.emit('disconnected', { ...this.#event(), error })
    onTrouble(this, error)
  }

  #onThrottle(throttleTimeMs: number, api: AnyApi): void {
    this.#context.events.emit('throttled', { ...this.#event(), throttleTimeMs, api: api.name })
  }

  /** Has no socket, nor one on its way. */
  get isIdle(): boolean {
    for (const { connection, opening } of this.#channels.values()) if (connection || opening) return false
    return true
  }

  /** Takes no new requests; connections close once nothing is in flight. */
  retire(): void {
    this.#isRetired = true
    for (const { connection } of this.#channels.values()) connection?.drain()
  }

  async close(): Promise<void> {
    this.#isRetired = true
    this.#closing.abort(this.#closed())
    await Promise.all([...this.#channels.values()].map(async ({ connection }) => connection?.close()))
  }

  get #backoff() {
    const { reconnectBackoffMs, reconnectBackoffMaxMs } = this.#context.config
    return { baseMs: reconnectBackoffMs, maxMs: reconnectBackoffMaxMs }
  }

  #event(): BrokerEvent {
    return { nodeId: this.#nodeId, address: this.where }
  }

  #closed(): KafkaError {
    return new KafkaError(`the connection to ${this.where} was closed here`, { code: 'CLOSED' })
  }
}
