// One request on its way: who waits for it and until when. It settles once, and then holds on to nothing.
import { abortedError, timeoutError, type KafkaError } from '../errors.js'
import type { AnyApi } from '../protocol/wire/index.js'
import type { Deadline } from '../util/deadline.js'
import { allowManyListeners } from '../util/many-listeners.js'

export interface PendingRequestFields {
  readonly api: AnyApi
  readonly version: number
  readonly correlationId: number
  readonly isOneWay: boolean
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly deadline: Deadline | undefined
  readonly resolve: (response: unknown) => void
  readonly reject: (error: unknown) => void
}

export class PendingRequest {
  readonly api: AnyApi
  readonly version: number
  readonly correlationId: number
  readonly isOneWay: boolean
  readonly timeoutMs: number
  /** Until it is written. */
  chunks: readonly Uint8Array[] | undefined
  /** When the connection is given up for want of an answer. */
  timeoutAt = Infinity
  /** When the caller gives up. */
  readonly giveUpAt: number
  #waiting: PendingRequestFields | undefined

  constructor(fields: PendingRequestFields, chunks: readonly Uint8Array[], now: number) {
    this.api = fields.api
    this.version = fields.version
    this.correlationId = fields.correlationId
    this.isOneWay = fields.isOneWay
    this.timeoutMs = fields.timeoutMs
    this.chunks = chunks
    this.giveUpAt = fields.deadline ? now + fields.deadline.remainingMs() : Infinity
    this.#waiting = fields
    allowManyListeners(fields.signal)
    fields.signal?.addEventListener('abort', this)
    fields.deadline?.signal?.addEventListener('abort', this)
  }

  /** Nobody waits any more; an answer is dropped. */
  get isSettled(): boolean {
    return this.#waiting === undefined
  }

  resolve(response: unknown): void {
    this.#settle()?.resolve(response)
  }

  reject(error: KafkaError): void {
    this.#settle()?.reject(error)
  }

  giveUp(where: string): void {
    const deadline = this.#waiting?.deadline
    if (deadline) this.reject(timeoutError(`${this.api.name} to ${where}`, deadline.timeoutMs))
  }

  /** A signal has fired. An object as its listener needs no closure per request. */
  handleEvent(event: Event): void {
    this.reject(abortedError(event.target as AbortSignal, this.api.name))
  }

  #settle(): PendingRequestFields | undefined {
    const fields = this.#waiting
    this.#waiting = undefined
    this.chunks = undefined
    fields?.signal?.removeEventListener('abort', this)
    fields?.deadline?.signal?.removeEventListener('abort', this)
    return fields
  }
}
