// A bare client for tests of brokers: one socket, requests of exactly the version that is named, decoded answers. It negotiates nothing.
import { connect, type Socket } from 'node:net'
import { encodeRequest, FrameSplitter, readCorrelationId, skipResponseTags } from '../../src/protocol/wire/frame.js'
import { Reader, type AnyApi, type RequestInput, type ResponseOf } from '../../src/protocol/wire/index.js'

interface Waiting {
  readonly api: AnyApi
  readonly version: number
  readonly resolve: (response: unknown) => void
  readonly reject: (error: Error) => void
}

export class WireClient implements Disposable {
  readonly #socket: Socket
  readonly #clientId: string
  readonly #waiting: Waiting[] = []
  #next = 0

  private constructor(socket: Socket, clientId: string) {
    this.#socket = socket
    this.#clientId = clientId
    const splitter = new FrameSplitter(100 << 20, (frame) => this.#receive(frame))
    socket.on('data', (chunk) => splitter.push(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the broker closed the connection')))
  }

  static open(address: string, clientId = 'wire-client'): Promise<WireClient> {
    const at = address.lastIndexOf(':')
    return new Promise((resolve, reject) => {
      const socket = connect(Number(address.slice(at + 1)), address.slice(0, at))
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new WireClient(socket, clientId))
      })
    })
  }

  ask<A extends AnyApi>(api: A, version: number, request: RequestInput<A>): Promise<ResponseOf<A>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ api, version, resolve: resolve as (response: unknown) => void, reject })
      this.#socket.write(Buffer.concat(encodeRequest(api, version, this.#next++, this.#clientId, request)))
    })
  }

  #receive(frame: Buffer): void {
    const waiting = this.#waiting.shift()
    if (!waiting) return
    const { api, version, resolve, reject } = waiting
    try {
      const reader = new Reader(frame)
      readCorrelationId(reader)
      skipResponseTags(reader, api, version)
      resolve(api.response.read(reader, version))
    } catch (error) {
      reject(error as Error)
    }
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
