// The requests of one connection that wait for answers, in order, under one timer for all of them.
import type { Clock, Timer } from '../util/clock.js'
import type { PendingRequest } from './pending-request.js'

export class InFlight {
  readonly #clock: Clock
  readonly #where: string
  readonly #onLate: (request: PendingRequest) => void
  readonly #requests: PendingRequest[] = []
  /** Those that no answer is due for: not written yet, or one-way and not yet handed to the system. */
  readonly #watched = new Set<PendingRequest>()
  #timer: Timer | undefined
  #timerAt = Infinity

  /** `onLate` is told of a request whose answer is overdue; it has to end the connection. */
  constructor(clock: Clock, where: string, onLate: (request: PendingRequest) => void) {
    this.#clock = clock
    this.#where = where
    this.#onLate = onLate
  }

  get size(): number {
    return this.#requests.length
  }

  push(request: PendingRequest, now: number): void {
    request.timeoutAt = now + request.timeoutMs
    if (request.isOneWay) this.#watched.add(request)
    else this.#requests.push(request)
    this.#arm(Math.min(request.timeoutAt, request.giveUpAt), now)
  }

  shift(): PendingRequest | undefined {
    return this.#requests.shift()
  }

  /** A request that is held back: only its caller's deadline counts. */
  watch(request: PendingRequest): void {
    this.#watched.add(request)
    this.#arm(request.giveUpAt, this.#clock.now())
  }

  unwatch(request: PendingRequest): void {
    this.#watched.delete(request)
  }

  /** Gives every answer so much longer. */
  postpone(ms: number): void {
    for (const request of this.#requests) request.timeoutAt += ms
  }

  /** What was waiting, unsettled; the timer is gone. */
  clear(): readonly PendingRequest[] {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerAt = Infinity
    const waiting = [...this.#requests.splice(0), ...this.#watched]
    this.#watched.clear()
    return waiting
  }

  /** An answer that comes leaves the timer alone: when it fires it finds what is due next, if anything. */
  #arm(at: number, now: number): void {
    if (at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#clock.setTimer(at - now, () => this.#onTimer())
  }

  #onTimer(): void {
    this.#timer = undefined
    this.#timerAt = Infinity
    const now = this.#clock.now()
    let next = Infinity
    for (const requests of [this.#requests, this.#watched]) {
      for (const request of requests) {
        if (request.timeoutAt <= now) {
          this.#onLate(request)
          return
        }
        next = Math.min(next, request.timeoutAt, this.#giveUp(request, now))
      }
    }
    if (next < Infinity) this.#arm(next, now)
  }

  #giveUp(request: PendingRequest, now: number): number {
    if (request.isSettled) return Infinity
    if (request.giveUpAt > now) return request.giveUpAt
    request.giveUp(this.#where)
    return Infinity
  }
}
