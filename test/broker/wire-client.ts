// A client of the tests: one socket, any API in any version, answers in the order of the requests. Makes no decision of its own.
import { connect, type Socket } from 'node:net'
import type { AnyApi, RequestInput, ResponseOf } from '../../src/protocol/wire/index.js'
import { encodeRequest, FrameSplitter, readCorrelationId, skipResponseTags } from '../../src/protocol/wire/frame.js'
import { Reader } from '../../src/protocol/wire/index.js'

interface Waiting {
  readonly read: (frame: Buffer) => void
  readonly fail: (error: Error) => void
}

export class WireClient {
  readonly socket: Socket
  readonly clientId: string | null
  readonly closed: Promise<void>
  readonly #waiting: Waiting[] = []
  #correlationId = 0

  private constructor(socket: Socket, clientId: string | null) {
    this.socket = socket
    this.clientId = clientId
    const splitter = new FrameSplitter(1 << 30, (frame) => this.#waiting.shift()?.read(frame))
    socket.setNoDelay(true)
    socket.on('data', (chunk) => splitter.push(chunk))
    socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        for (const { fail } of this.#waiting.splice(0)) fail(new Error('closed'))
        resolve()
      })
    })
  }

  static open(address: string, clientId: string | null = 'test'): Promise<WireClient> {
    const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(address) as unknown as [string, string, string]
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port) }, () => {
        socket.off('error', reject)
        resolve(new WireClient(socket, clientId))
      })
      socket.once('error', reject)
    })
  }

  /** The answer in the newest version unless another is asked for. */
  send<A extends AnyApi>(api: A, request: RequestInput<A>, version = api.stableVersions.max): Promise<ResponseOf<A>> {
    this.post(api, request, version)
    const correlationId = this.#correlationId
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) {
        reject(new Error('closed'))
        return
      }
      const read = (frame: Buffer) => {
        const reader = new Reader(frame)
        const answered = readCorrelationId(reader)
        if (answered !== correlationId) {
          reject(new Error(`answer ${answered} to request ${correlationId}`))
          return
        }
        skipResponseTags(reader, api, version)
        resolve(api.response.read(reader, version) as ResponseOf<A>)
      }
      this.#waiting.push({ read, fail: reject })
    })
  }

  /** Sends without waiting for an answer. */
  post<A extends AnyApi>(api: A, request: RequestInput<A>, version = api.stableVersions.max): void {
    this.socket.write(Buffer.concat(encodeRequest(api, version, ++this.#correlationId, this.clientId, request)))
  }

  async close(): Promise<void> {
    this.socket.destroy()
    await this.closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
