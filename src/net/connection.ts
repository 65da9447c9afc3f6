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
import {
  closedHere,
  connectionLost,
  handshakeFailed,
  noAnswerInTime,
  notSent,
  requestLost,
  unreadableAnswer,
} from './connection-errors.js'
import type { ConnectionOptions } from './connection-options.js'
import { step, type ConnectionEvent, type ConnectionState } from './connection-state.js'
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
  #state: ConnectionState = { stage: 'handshake' }
  /** Closed in favour of another connection: what comes later was not sent, and may go there. */
  #wasDrained = false

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
      controller.signal.addEventListener('abort', () => opening.#fail(controller.signal.reason as KafkaError))
      await opening.#handshake(controller.signal)
      return opening
    } catch (error) {
      if (!connection) throw error
      connection.#fail(error as KafkaError)
      throw connection.#failure ?? error
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
      const error = noAnswerInTime(this.where, late)
      this.#fail(error, late, error)
    })
    let failure: Error | undefined
    socket.on('error', (error) => (failure = error))
    socket.on('end', () => this.#fail(this.#lost('the broker closed the connection')))
    socket.on('close', () => {
      const code = (failure as NodeJS.ErrnoException | undefined)?.code ?? failure?.message
      this.#fail(this.#lost(code === undefined ? 'the connection broke' : `the connection broke (${code})`, failure))
      this.#gone.resolve()
    })
    if (socket.destroyed) {
      this.#fail(this.#lost('the broker closed the connection'))
      this.#gone.resolve()
      return
    }
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
  }

  async #handshake(signal: AbortSignal): Promise<void> {
    this.#ranges = await negotiate(this, this.#options.expected)
    const authentication = this.#options.authenticate?.(this, signal)
    if (authentication) await untilAborted(authentication, signal)
    this.#on({ kind: 'ready' })
    if (!this.isOpen) throw this.#failure ?? closedHere(this.where, 'the connection')
  }

  /** host:port. */
  get where(): string {
    return formatAddress(this.#options)
  }

  get isOpen(): boolean {
    return this.#state.stage === 'open'
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
    const { stage } = this.#state
    if (stage === 'draining' || stage === 'closed') {
      const isFinal = this.#isClosedHere && !this.#wasDrained
      throw isFinal ? closedHere(this.where, api.name) : notSent(this.where, api, this.#failure)
    }
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
              this.#isClosedHere ? closedHere(this.where, pending.api.name) : this.#lost('the connection broke', error),
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
    const strange = this.#state.stage === 'handshake' ? strangePeer(chunk) : undefined
    if (strange) {
      this.#fail(new ConnectionError(`${this.where} is not a Kafka broker: ${strange}`, { retriable: false }))
      return
    }
    try {
      this.#splitter.push(chunk)
    } catch (cause) {
      const isBroker = this.#state.stage !== 'handshake'
      const what = isBroker
        ? 'the broker sent'
        : 'it is not a Kafka broker, or one behind TLS (is this a TLS port?); it sent'
      this.#fail(
        new ConnectionError(`the connection to ${this.where} was closed: ${what} ${(cause as Error).message}`, {
          code: isBroker ? 'CONNECTION_LOST' : 'CONNECTION_FAILED',
          retriable: isBroker,
          cause,
        }),
      )
    }
  }

  #onFrame(frame: Buffer): void {
    if (this.#state.stage === 'closed') return
    const reader = new Reader(frame)
    const correlationId = readCorrelationId(reader)
    const pending = this.#inFlight.shift()
    if (pending?.correlationId !== correlationId) {
      const expected = pending ? `${pending.correlationId} (${pending.api.name})` : 'none'
      const error = this.#lost(`the broker answered request ${correlationId}, due was ${expected}`)
      this.#fail(error, pending, error)
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
        const error = unreadableAnswer(this.where, api, version, cause)
        this.#fail(this.#lost('an answer could not be read', error), pending, error)
        return
      }
      const { throttleTimeMs } = response
      if (typeof throttleTimeMs === 'number' && throttleTimeMs > 0) this.#pause(throttleTimeMs, pending, now)
      pending.resolve(response)
    }
    if (this.inFlight === 0) this.#on({ kind: 'idle' })
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
    if (this.inFlight === 0) this.#on({ kind: 'idle' })
  }

  /** Takes no more requests and closes as soon as those sent are answered. */
  drain(): void {
    if (this.#state.stage !== 'closed') this.#wasDrained = true
    this.#on({ kind: 'drain' })
    if (this.inFlight === 0) this.#on({ kind: 'idle' })
  }

  /** Fails what is pending with CLOSED. Done when the socket is gone. Idempotent. */
  close(): Promise<void> {
    this.#on({ kind: 'close' })
    return this.#gone.promise
  }

  /** `culprit` is the request that is to blame, perhaps in flight no longer; it gets an error of its own. */
  #fail(error: KafkaError, culprit?: PendingRequest, itsError?: KafkaError): void {
    this.#on({ kind: 'fail', error }, culprit, itsError)
  }

  #on(event: ConnectionEvent, culprit?: PendingRequest, itsError?: KafkaError): void {
    const [state, ...effects] = step(this.#state, event)
    this.#state = state
    if (!effects.includes('end')) return
    const lostRequests = this.#end(culprit, itsError)
    if (effects.includes('tell')) this.#options.onClose?.({ error: this.#failure, lostRequests })
  }

  #end(culprit?: PendingRequest, itsError?: KafkaError): number {
    const error = this.#failure
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
      one.reject(one === culprit && itsError ? itsError : requestLost(this.where, one, error))
    }
    return lostRequests
  }

  get #isClosedHere(): boolean {
    return this.#state.stage === 'closed' && !this.#failure
  }

  /** Why it is closed, if not from our side. */
  get #failure(): KafkaError | undefined {
    return this.#state.stage === 'closed' ? this.#state.error : undefined
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

  #lost(why: string, cause?: unknown): ConnectionError {
    const make = this.#state.stage === 'handshake' ? handshakeFailed : connectionLost
    return make(this.where, why, cause)
  }
}
