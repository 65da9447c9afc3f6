// One socket to one broker: handshake, correlation, the in-flight window, deadlines, throttling.
// It knows nothing of clusters and never reconnects; its owner opens another one.
import type { Socket } from 'node:net'
import { abortedError, ConnectionError, KafkaError } from '../errors.js'
import { encodeRequest, FrameSplitter, readCorrelationId, skipResponseTags } from '../protocol/wire/frame.js'
import { Reader, type AnyApi, type ResponseOf } from '../protocol/wire/index.js'
import type { Timer } from '../util/clock.js'
import { Deferred } from '../util/deferred.js'
import { formatAddress } from './address.js'
import type { ApiRanges, FeatureLevels } from './api-ranges.js'
import type { ConnectionOptions } from './connection-options.js'
import { dial } from './dial.js'
import { negotiate, versionToRead } from './handshake.js'
import { InFlight } from './in-flight.js'
import { strangePeer } from './peer.js'
import { PendingRequest } from './pending-request.js'
import type { RequestFor, SendOptions } from './send-options.js'
import { shouldPause } from './throttling.js'
import { untilAborted } from './until-aborted.js'

export type { ClosedConnection, ConnectionOptions } from './connection-options.js'
export type { RequestFor, SendOptions } from './send-options.js'

const DEFAULT_MAX_FRAME_BYTES = 104_857_600
const LAST_CORRELATION_ID = 2 ** 31 - 1
/** How long close() lets one-way requests drain into the system. */
const FLUSH_MS = 1000
const noOptions: SendOptions = {}

export class Connection {
  readonly #options: ConnectionOptions
  readonly #socket: Socket
  readonly #splitter: FrameSplitter
  readonly #inFlight: InFlight
  readonly #gone = new Deferred<void>()
  /** Requests held back while the broker throttles us, in order. */
  #heldBack: PendingRequest[] = []
  #throttle: { readonly until: number; readonly timer: Timer } | undefined
  #ranges: ApiRanges | undefined
  #nextCorrelationId: number
  #lastUsedAt: number
  #stage: 'handshake' | 'open' | 'draining' | 'closed' = 'handshake'
  #closedBy: KafkaError | undefined

  /** Dials, negotiates versions, authenticates. Rejects with ConnectionError, ABORTED, or what the broker refused with. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { clock, signal, connectTimeoutMs } = options
    const where = formatAddress(options)
    if (signal?.aborted) throw abortedError(signal, `connecting to ${where}`)
    const controller = new AbortController()
    const onAbort = () => controller.abort(abortedError(signal as AbortSignal, `connecting to ${where}`))
    signal?.addEventListener('abort', onAbort, { once: true })
    let connection: Connection | undefined
    const timer = clock.setTimer(connectTimeoutMs, () => {
      const stage = connection ? 'it accepts connections, but does not answer' : 'it cannot be reached'
      controller.abort(new ConnectionError(`connecting to ${where} took more than ${connectTimeoutMs} ms: ${stage}`))
    })
    try {
      const socket = await dial({ ...options, signal: controller.signal })
      const opening = (connection = new Connection(options, socket))
      controller.signal.addEventListener('abort', () => opening.#end(controller.signal.reason as KafkaError))
      await opening.#handshake(controller.signal)
      return opening
    } catch (error) {
      if (!connection) throw error
      const reason = connection.#closedBy ?? (error as KafkaError)
      connection.#end(reason)
      throw reason
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  private constructor(options: ConnectionOptions, socket: Socket) {
    this.#options = options
    this.#socket = socket
    this.#nextCorrelationId = options.firstCorrelationId ?? 0
    this.#lastUsedAt = options.clock.now()
    this.#splitter = new FrameSplitter(options.maxFrameBytes ?? DEFAULT_MAX_FRAME_BYTES, (frame) =>
      this.#onFrame(frame),
    )
    this.#inFlight = new InFlight(options.clock, this.where, (late) => {
      const error = this.#unanswered(late)
      this.#end(error, late, error)
    })
    let failure: Error | undefined
    socket.on('error', (error) => (failure = error))
    socket.on('end', () => this.#end(this.#lost('the broker closed the connection')))
    socket.on('close', () => {
      const code = (failure as NodeJS.ErrnoException | undefined)?.code ?? failure?.message
      this.#end(this.#lost(code === undefined ? 'the connection broke' : `the connection broke (${code})`, failure))
      this.#gone.resolve()
    })
    if (socket.destroyed) {
      this.#end(this.#lost('the broker closed the connection'))
      this.#gone.resolve()
      return
    }
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
  }

  async #handshake(signal: AbortSignal): Promise<void> {
    this.#ranges = await negotiate(this, this.#options.expected)
    const authentication = this.#options.authenticate?.(this, signal)
    if (authentication) await untilAborted(authentication, signal)
    if (this.#stage === 'handshake') this.#stage = 'open'
    else throw this.#closedBy ?? this.#closed('the connection')
  }

  /** host:port. */
  get where(): string {
    return formatAddress(this.#options)
  }

  get isOpen(): boolean {
    return this.#stage === 'open'
  }

  /** Requests that were sent, or are held back, and have no answer yet. */
  get inFlight(): number {
    return this.#inFlight.size + this.#heldBack.length
  }

  /** Monotonic time of the last request or answer. */
  get lastUsedAt(): number {
    return this.#lastUsedAt
  }

  /** Monotonic time until which the broker wants no request of us; 0 when it does not mind. */
  get throttledUntil(): number {
    return this.#throttle?.until ?? 0
  }

  /** Finalized features of the cluster, with their levels. */
  get features(): ReadonlyMap<string, FeatureLevels> {
    return this.#ranges?.features ?? new Map<string, FeatureLevels>()
  }

  /** The version in which requests of this API go to this broker. Throws UNSUPPORTED_VERSION when there is none. */
  versionOf(api: AnyApi, maxVersion?: number): number {
    return (this.#ranges as ApiRanges).versionOf(api, maxVersion)
  }

  supports(api: AnyApi): boolean {
    return this.#ranges?.supports(api) === true
  }

  /** Rejects with ConnectionError (retriable), CLOSED, TIMEOUT, ABORTED, UNSUPPORTED_VERSION or MALFORMED_MESSAGE. */
  send<A extends AnyApi>(api: A, request: RequestFor<A>, options: SendOptions = noOptions): Promise<ResponseOf<A>> {
    return new Promise<ResponseOf<A>>((resolve, reject) => {
      this.#submit(api, request, options, false, resolve as (response: unknown) => void, reject)
    })
  }

  /** For requests that get no answer (Produce with acks 0): done when the bytes are handed to the system. */
  sendOneWay<A extends AnyApi>(api: A, request: RequestFor<A>, options: SendOptions = noOptions): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#submit(api, request, options, true, resolve as (response: unknown) => void, reject)
    })
  }

  #submit<A extends AnyApi>(
    api: A,
    request: RequestFor<A>,
    options: SendOptions,
    isOneWay: boolean,
    resolve: (response: unknown) => void,
    reject: (error: unknown) => void,
  ): void {
    if (this.#stage !== 'open' && this.#stage !== 'handshake') throw this.#notSent(api)
    const { deadline, signal, timeoutMs = this.#options.requestTimeoutMs } = options
    if (signal?.aborted) throw abortedError(signal, api.name)
    deadline?.check(api.name)
    const version = this.#version(api, options)
    const correlationId = this.#nextCorrelationId
    const input = typeof request === 'function' ? request(version) : request
    const chunks = encodeRequest(api, version, correlationId, this.#options.clientId, input)
    this.#nextCorrelationId = correlationId === LAST_CORRELATION_ID ? 0 : correlationId + 1

    const now = this.#options.clock.now()
    this.#lastUsedAt = now
    const fields = { api, version, correlationId, isOneWay, timeoutMs, signal, deadline, resolve, reject }
    const pending = new PendingRequest(fields, chunks, now)
    if (this.#throttle) {
      this.#heldBack.push(pending)
      this.#inFlight.watch(pending)
    } else {
      this.#write(pending, chunks, now)
    }
  }

  #version(api: AnyApi, { version, maxVersion }: SendOptions): number {
    const ranges = this.#ranges
    if (version !== undefined) return ranges ? ranges.check(api, version) : version
    if (!ranges) throw new KafkaError(`${api.name} was sent before the handshake`, { code: 'INVALID_ARGUMENT' })
    return ranges.versionOf(api, maxVersion)
  }

  #write(pending: PendingRequest, chunks: readonly Uint8Array[], now: number): void {
    pending.chunks = undefined
    const socket = this.#socket
    const onWritten = pending.isOneWay
      ? (error?: Error | null) => {
          this.#inFlight.unwatch(pending)
          if (error)
            pending.reject(
              this.#isClosedHere ? this.#closed(pending.api.name) : this.#lost('the connection broke', error),
            )
          else pending.resolve(undefined)
        }
      : undefined
    this.#inFlight.push(pending, now)
    const last = chunks.length - 1
    if (last > 0) socket.cork()
    for (let i = 0; i < last; i++) socket.write(chunks[i] as Uint8Array)
    socket.write(chunks[last] as Uint8Array, onWritten)
    if (last > 0) socket.uncork()
  }

  #onData(chunk: Buffer): void {
    const strange = this.#stage === 'handshake' ? strangePeer(chunk) : undefined
    if (strange) {
      this.#end(new ConnectionError(`${this.where} is not a Kafka broker: ${strange}`, { retriable: false }))
      return
    }
    try {
      this.#splitter.push(chunk)
    } catch (cause) {
      const isBroker = this.#stage !== 'handshake'
      const what = isBroker
        ? 'the broker sent'
        : 'it is not a Kafka broker, or one behind TLS (is this a TLS port?); it sent'
      this.#end(
        new ConnectionError(`the connection to ${this.where} was closed: ${what} ${(cause as Error).message}`, {
          code: isBroker ? 'CONNECTION_LOST' : 'CONNECTION_FAILED',
          retriable: isBroker,
          cause,
        }),
      )
    }
  }

  #onFrame(frame: Buffer): void {
    if (this.#stage === 'closed') return
    const reader = new Reader(frame)
    const correlationId = readCorrelationId(reader)
    const pending = this.#inFlight.shift()
    if (pending?.correlationId !== correlationId) {
      const expected = pending ? `${pending.correlationId} (${pending.api.name})` : 'none'
      const error = this.#lost(`the broker answered request ${correlationId}, due was ${expected}`)
      this.#end(error, pending, error)
      return
    }
    const { api } = pending
    const now = this.#options.clock.now()
    this.#lastUsedAt = now
    if (!pending.isSettled) {
      let response: { readonly throttleTimeMs?: unknown }
      const version = versionToRead(pending, reader)
      try {
        skipResponseTags(reader, api, version)
        response = api.response.read(reader, version) as { readonly throttleTimeMs?: unknown }
      } catch (cause) {
        const error = new ConnectionError(`the answer of ${this.where} to ${api.name} ${version} cannot be read`, {
          code: 'MALFORMED_MESSAGE',
          cause,
        })
        this.#end(this.#lost('an answer could not be read', error), pending, error)
        return
      }
      const { throttleTimeMs } = response
      if (typeof throttleTimeMs === 'number' && throttleTimeMs > 0) this.#pause(throttleTimeMs, pending, now)
      pending.resolve(response)
    }
    if (this.#stage === 'draining' && this.inFlight === 0) this.#end(undefined)
  }

  /** The broker reads nothing of us for so long (KIP-219): hold requests back, and do not count that time against those sent. */
  #pause(throttleTimeMs: number, { api, version }: PendingRequest, now: number): void {
    if (shouldPause(api, version)) {
      const until = now + throttleTimeMs
      if (until > this.throttledUntil) {
        this.#throttle?.timer.cancel()
        this.#throttle = { until, timer: this.#options.clock.setTimer(throttleTimeMs, () => this.#resume()) }
      }
      this.#inFlight.postpone(throttleTimeMs)
    }
    this.#options.onThrottle?.(throttleTimeMs, api)
  }

  #resume(): void {
    this.#throttle = undefined
    const heldBack = this.#heldBack
    this.#heldBack = []
    const now = this.#options.clock.now()
    for (const pending of heldBack) {
      this.#inFlight.unwatch(pending)
      // What was given up meanwhile has none.
      if (pending.chunks) this.#write(pending, pending.chunks, now)
    }
    if (this.#stage === 'draining' && this.inFlight === 0) this.#end(undefined)
  }

  /** Takes no more requests and closes as soon as those sent are answered. */
  drain(): void {
    if (this.#stage !== 'open') return
    this.#stage = 'draining'
    if (this.inFlight === 0) this.#end(undefined)
  }

  /** Fails what is pending with CLOSED. Done when the socket is gone. Idempotent. */
  close(): Promise<void> {
    this.#end(undefined)
    return this.#gone.promise
  }

  /** `culprit` is the request that is to blame and no longer among those in flight, or the one that was waited for; it gets an error of its own. */
  #end(error: KafkaError | undefined, culprit?: PendingRequest, itsError?: KafkaError): void {
    const stage = this.#stage
    if (stage === 'closed') return
    this.#stage = 'closed'
    this.#closedBy = error
    this.#throttle?.timer.cancel()
    this.#throttle = undefined
    this.#destroy(error === undefined)
    this.#heldBack = []
    const pending = new Set(this.#inFlight.clear())
    if (culprit) pending.add(culprit)
    let lostRequests = 0
    for (const one of pending) {
      // What was written one-way before close() is flushed, and settles by that.
      if (one.isSettled || (!error && one.isOneWay && !one.chunks)) continue
      lostRequests++
      one.reject(one === culprit && itsError ? itsError : this.#failed(one, error))
    }
    if (stage !== 'handshake') this.#options.onClose?.({ error, lostRequests })
  }

  #destroy(isOrderly: boolean): void {
    const socket = this.#socket
    if (!isOrderly || socket.writableLength === 0) {
      socket.destroy()
      return
    }
    const timer = this.#options.clock.setTimer(FLUSH_MS, () => socket.destroy())
    socket.once('close', () => timer.cancel())
    socket.destroySoon()
  }

  #failed({ api }: PendingRequest, error: KafkaError | undefined): KafkaError {
    if (!error) return this.#closed(api.name)
    const { code, retriable } = error
    if (code === 'ABORTED') return error
    return new ConnectionError(`${api.name} to ${this.where} got no answer: ${error.message}`, {
      code: code === 'TIMEOUT' ? 'CONNECTION_LOST' : code,
      retriable,
      cause: error,
    })
  }

  #notSent(api: AnyApi): KafkaError {
    if (this.#isClosedHere) return this.#closed(api.name)
    return new ConnectionError(`${api.name} was not sent: the connection to ${this.where} is closed`, {
      code: 'CONNECTION_LOST',
      cause: this.#closedBy,
    })
  }

  get #isClosedHere(): boolean {
    return this.#stage === 'closed' && !this.#closedBy
  }

  #closed(what: string): KafkaError {
    return new KafkaError(`${what} to ${this.where} has ended: the connection was closed here`, { code: 'CLOSED' })
  }

  #lost(why: string, cause?: unknown): ConnectionError {
    if (this.#stage !== 'handshake')
      return new ConnectionError(`${this.where}: ${why}`, { code: 'CONNECTION_LOST', cause })
    return new ConnectionError(
      `${this.where}: ${why} during the handshake; is it a Kafka broker, is this a TLS port?`,
      {
        cause,
      },
    )
  }

  #unanswered({ api, timeoutMs }: PendingRequest): ConnectionError {
    return new ConnectionError(`${api.name} to ${this.where} got no answer within ${timeoutMs} ms`, { code: 'TIMEOUT' })
  }
}
