// A scripted Kafka server on loopback: it answers each API by a function, in the same messages as the client, and can misbehave
// on the wire. It keeps no state of its own; the embedded broker is the one that behaves like Kafka.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { ApiVersions } from '../../src/protocol/messages/api-versions.js'
import { FindCoordinator } from '../../src/protocol/messages/find-coordinator.js'
import { Heartbeat } from '../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { Produce } from '../../src/protocol/messages/produce.js'
import { encodeResponse, FrameSplitter, readRequestHeader, skipRequestTags } from '../../src/protocol/wire/frame.js'
import { Reader, type AnyApi, type RequestOf, type ResponseInput } from '../../src/protocol/wire/index.js'

const usualApis: readonly AnyApi[] = [ApiVersions, Metadata, FindCoordinator, Heartbeat, Produce]

export interface ReceivedRequest {
  readonly api: AnyApi
  readonly version: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly socket: Socket
  /** Counts from 0 over all connections. */
  readonly connection: number
  readonly request: unknown
}

type Answer = object | 'silence' | 'disconnect' | Uint8Array
type Script = (request: never, received: ReceivedRequest) => Answer | Promise<Answer>

export class FakeServer {
  readonly received: ReceivedRequest[] = []
  readonly sockets = new Set<Socket>()
  /** Every connection ever accepted. */
  accepted = 0
  /** How an answer is put on the wire. */
  write: (socket: Socket, bytes: Buffer) => void = (socket, bytes) => void socket.write(bytes)
  readonly #apis = [...usualApis]
  readonly #scripts = new Map<number, Script>()
  readonly #server: Server
  #onSocket: ((socket: Socket) => void) | undefined

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket))
    this.on(ApiVersions, () => this.apiVersions())
  }

  static async start({ host = '127.0.0.1', port = 0 } = {}): Promise<FakeServer> {
    const server = new FakeServer()
    await server.listen(port, host)
    return server
  }

  listen(port: number, host = '127.0.0.1'): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Answers this API from now on; 'silence' and 'disconnect' are answers too, and bytes go out as they are. */
  on<A extends AnyApi>(
    api: A,
    script: (request: RequestOf<A>, received: ReceivedRequest) => ResponseInput<A> | Answer | Promise<Answer>,
  ): this {
    this.#scripts.set(api.key, script)
    if (!this.#apis.includes(api)) this.#apis.push(api)
    return this
  }

  /** Takes over the sockets: nothing is parsed any more. */
  onSocket(listener: (socket: Socket) => void): this {
    this.#onSocket = listener
    return this
  }

  /** The answer that lists what this server knows. */
  apiVersions(limits: Readonly<Record<string, number>> = {}): ResponseInput<typeof ApiVersions> {
    return {
      errorCode: 0,
      apiKeys: this.#apis.map(({ key, name, stableVersions }) => ({
        apiKey: key,
        minVersion: stableVersions.min,
        maxVersion: limits[name] ?? stableVersions.max,
      })),
    }
  }

  requestsOf(api: AnyApi): ReceivedRequest[] {
    return this.received.filter((one) => one.api === api)
  }

  #serve(socket: Socket): void {
    const connection = this.accepted++
    this.sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.sockets.delete(socket))
    if (this.#onSocket) {
      this.#onSocket(socket)
      return
    }
    let queue: Promise<unknown> = Promise.resolve()
    const splitter = new FrameSplitter(2 ** 30, (frame) => {
      queue = queue.then(() => this.#answer(socket, connection, frame))
    })
    socket.on('data', (chunk: Buffer) => splitter.push(chunk))
  }

  async #answer(socket: Socket, connection: number, frame: Buffer): Promise<void> {
    const reader = new Reader(frame)
    const { apiKey, apiVersion: version, correlationId, clientId } = readRequestHeader(reader)
    const api = this.#apis.find(({ key }) => key === apiKey)
    if (!api) throw new Error(`the fake server does not know API ${apiKey}`)
    skipRequestTags(reader, api, version)
    const request = api.request.read(reader, version) as unknown
    const received = { api, version, correlationId, clientId, socket, connection, request }
    this.received.push(received)
    const script = this.#scripts.get(apiKey)
    if (!script) throw new Error(`the fake server has no answer to ${api.name}`)
    const answer = await script(request as never, received)
    if (answer === 'silence') return
    if (answer === 'disconnect') socket.destroy()
    else if (answer instanceof Uint8Array) this.write(socket, Buffer.from(answer))
    else this.write(socket, responseBytes(api, version, correlationId, answer as never))
  }

  /** Ends every connection, politely or by RST. */
  disconnectAll(how: 'end' | 'reset' = 'end'): void {
    for (const socket of this.sockets) {
      if (how === 'end') socket.end()
      else socket.resetAndDestroy()
    }
  }

  /** Stops listening and drops every connection. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.sockets) socket.destroy()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

export function responseBytes<A extends AnyApi>(
  api: A,
  version: number,
  correlationId: number,
  response: ResponseInput<A>,
): Buffer {
  return Buffer.concat(encodeResponse(api, version, correlationId, response))
}
