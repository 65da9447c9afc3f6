// The listening sockets of one broker and the connections they accepted. A broker that is stopped and started again keeps its port.
import { createServer, type Server, type Socket } from 'node:net'
import { ConnectionError } from '../errors.js'
import type { Clock } from '../util/clock.js'
import { ClientConnection, type ConnectionOptions } from './connection.js'

export interface ListenerOptions {
  /** `localhost` listens on 127.0.0.1 and, where there is IPv6, on ::1. */
  readonly host: string
  readonly clock: Clock
  readonly maxFrameBytes: number
  readonly maxIdleMs: number
  readonly serve: ConnectionOptions['serve']
  readonly onConnection: (connection: ClientConnection) => void
  readonly onConnectionClosed: ConnectionOptions['onClose']
}

const portAttempts = 10
let nextConnectionId = 1

export class Listener {
  readonly #options: ListenerOptions
  #servers: Server[] = []
  readonly #connections = new Set<ClientConnection>()

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Listens; port 0 takes a free one. Returns the port. */
  async open(port: number): Promise<number> {
    const { host } = this.#options
    if (host !== 'localhost') return this.#listen(host, port)
    for (let attempt = 1; ; attempt++) {
      const taken = await this.#listen('127.0.0.1', port)
      try {
        return await this.#listen('::1', taken)
      } catch (error) {
        const { code } = (error as ConnectionError).cause as NodeJS.ErrnoException
        if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return taken // a machine without IPv6
        await this.close('another port is tried', false)
        if (port !== 0 || attempt === portAttempts) throw error
      }
    }
  }

  #listen(host: string, port: number): Promise<number> {
    const server = createServer((socket) => this.#accept(socket))
    return new Promise((resolve, reject) => {
      // Not once: a server that runs out of descriptors says so again and again.
      server.on('error', (cause) => {
        reject(
          new ConnectionError(`the broker cannot listen on ${host}:${port}: ${cause.message}`, {
            cause,
            retriable: false,
          }),
        )
      })
      server.listen({ host, port }, () => {
        this.#servers.push(server)
        resolve((server.address() as { port: number }).port)
      })
    })
  }

  #accept(socket: Socket): void {
    const { clock, maxFrameBytes, maxIdleMs, serve, onConnection, onConnectionClosed } = this.#options
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return
    }
    const connection = new ClientConnection({
      id: nextConnectionId++,
      socket,
      clock,
      maxFrameBytes,
      maxIdleMs,
      serve,
      onClose: (closed, reason) => {
        this.#connections.delete(closed)
        onConnectionClosed(closed, reason)
      },
    })
    this.#connections.add(connection)
    onConnection(connection)
  }

  /** Stops listening and ends every connection; by a reset if it is a crash that is played. */
  async close(reason: string, withReset: boolean): Promise<void> {
    const closing = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    this.#servers = []
    for (const connection of this.#connections) {
      if (withReset) connection.reset(reason)
      else connection.hangUp(reason)
    }
    await Promise.all(closing)
  }
}
