// One client's socket: frames in, one request at a time, answers in the order of the requests. Knows nothing of what they mean.
import type { Socket } from 'node:net'
import { isKafkaError } from '../errors.js'
import { FrameSplitter } from '../protocol/wire/frame.js'
import type { Clock, Timer } from '../util/clock.js'
import type { ConnectionInfo } from './handlers/handler.js'

/** What a request led to. */
export interface Reply {
  /** null: nothing is sent. */
  readonly frame: readonly Uint8Array[] | null
  /** How long the connection's next request waits after the answer (KIP-219). */
  readonly muteMs: number
  /** Ends the connection after the frame; why, for the log. */
  readonly hangUp: string | undefined
}

export interface ConnectionOptions {
  readonly id: number
  readonly socket: Socket
  readonly clock: Clock
  readonly maxFrameBytes: number
  readonly maxIdleMs: number
  readonly serve: (frame: Buffer, connection: ConnectionInfo) => Reply | Promise<Reply>
  /** `reason` is undefined when the client closed. */
  readonly onClose: (connection: ClientConnection, reason: string | undefined) => void
}

/** Waiting requests above this stop the reading of the socket until they are fewer. */
const maxQueuedBytes = 8 << 20

export class ClientConnection implements ConnectionInfo {
  readonly id: number
  readonly clientHost: string
  readonly localHost: string
  /** The client's `host:port`. */
  readonly remote: string
  readonly #options: ConnectionOptions
  readonly #abort = new AbortController()
  readonly #splitter: FrameSplitter
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  /** A request is being handled, or the connection is muted. */
  #isBusy = false
  #isServing = false
  #muted: Timer | undefined
  #idle: Timer | undefined
  #lastRequestAt: number
  #reason: string | undefined

  constructor(options: ConnectionOptions) {
    const { socket, clock } = options
    this.id = options.id
    this.clientHost = plainAddress(socket.remoteAddress)
    this.localHost = plainAddress(socket.localAddress)
    this.remote = `${this.clientHost}:${socket.remotePort}`
    this.#options = options
    this.#lastRequestAt = clock.now()
    this.#splitter = new FrameSplitter(options.maxFrameBytes, (frame) => {
      this.#queue.push(frame)
      this.#queuedBytes += frame.length
    })
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', () => undefined) // 'close' follows
    socket.on('close', () => this.#closed())
    this.#watchIdle()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  hangUp(reason: string): void {
    this.#reason ??= reason
    this.#options.socket.destroy()
    this.#abort.abort()
  }

  /** Ends it at once, with a reset rather than an orderly end. */
  reset(reason: string): void {
    this.#reason ??= reason
    this.#options.socket.resetAndDestroy()
    this.#abort.abort()
  }

  #receive(chunk: Buffer): void {
    try {
      this.#splitter.push(chunk)
    } catch (error) {
      this.#serveQueue()
      this.hangUp((error as Error).message)
      return
    }
    const { socket } = this.#options
    socket.cork()
    this.#serveQueue()
    socket.uncork()
    if (this.#queuedBytes > maxQueuedBytes) socket.pause()
  }

  #serveQueue(): void {
    if (this.#isServing) return
    this.#isServing = true
    while (!this.#isBusy && this.#queue.length > 0 && !this.signal.aborted) {
      const frame = this.#queue.shift() as Buffer
      this.#queuedBytes -= frame.length
      this.#serve(frame)
    }
    this.#isServing = false
    const { socket } = this.#options
    if (socket.isPaused() && this.#queuedBytes <= maxQueuedBytes) socket.resume()
  }

  #serve(frame: Buffer): void {
    this.#lastRequestAt = this.#options.clock.now()
    let reply: Reply | Promise<Reply>
    try {
      reply = this.#options.serve(frame, this)
    } catch (error) {
      this.#failed(error)
      return
    }
    if (!(reply instanceof Promise)) {
      this.#answer(reply)
      return
    }
    this.#isBusy = true
    reply.then(
      (late) => {
        this.#isBusy = false
        this.#answer(late)
        this.#serveQueue()
      },
      (error: unknown) => this.#failed(error),
    )
  }

  #failed(error: unknown): void {
    if (this.signal.aborted) return
    this.hangUp(isKafkaError(error) ? error.message : `internal error: ${(error as Error)?.stack ?? String(error)}`)
  }

  #answer({ frame, muteMs, hangUp }: Reply): void {
    if (this.signal.aborted) return
    const { socket, clock } = this.#options
    if (frame !== null && frame.length === 1) {
      socket.write(frame[0] as Uint8Array)
    } else if (frame !== null) {
      socket.cork()
      for (const chunk of frame) socket.write(chunk)
      socket.uncork()
    }
    this.#lastRequestAt = clock.now()
    if (hangUp !== undefined) {
      this.#reason ??= hangUp
      socket.end(() => this.hangUp(hangUp))
      this.#isBusy = true
    } else if (muteMs > 0) {
      this.#isBusy = true
      this.#muted = clock.setTimer(muteMs, () => {
        this.#isBusy = false
        this.#serveQueue()
      })
    } else if (socket.writableLength > maxQueuedBytes) {
      // A client that asks and does not read: its next request waits until it has.
      this.#isBusy = true
      socket.once('drain', () => {
        this.#isBusy = false
        this.#serveQueue()
      })
    }
  }

  /** One long timer that looks when the last request was, rather than one per request. */
  #watchIdle(): void {
    const { clock, maxIdleMs } = this.#options
    if (maxIdleMs < 0) return
    this.#idle = clock.setTimer(Math.max(1, this.#lastRequestAt + maxIdleMs - clock.now()), () => {
      if (!this.#isBusy && clock.now() - this.#lastRequestAt >= maxIdleMs) this.hangUp(`idle for ${maxIdleMs} ms`)
      else {
        if (this.#isBusy) this.#lastRequestAt = clock.now()
        this.#watchIdle()
      }
    })
  }

  #closed(): void {
    this.#abort.abort()
    this.#muted?.cancel()
    this.#idle?.cancel()
    this.#queue.length = 0
    this.#options.onClose(this, this.#reason)
  }
}

/** IPv4 addresses of a dual-stack socket without their IPv6 prefix. */
function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:/, '')
}
