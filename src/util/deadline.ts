// One deadline for an operation and everything below it, and waits that end with it. Nested loops take the deadline, not a new timeout.
import { abortedError, timeoutError, UsageError } from '../errors.js'
import type { Clock } from './clock.js'
import { allowManyListeners } from './many-listeners.js'
import { shown } from './options.js'

/** What every public wait takes. */
export interface WaitOptions {
  /** Ends the wait with an error of code ABORTED. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds until the wait ends with an error of code TIMEOUT. */
  readonly timeoutMs?: number | undefined
}

/** Throws UsageError (INVALID_ARGUMENT) for what is not a time or a signal. */
export function checkWait(owner: string, { timeoutMs, signal }: WaitOptions): void {
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 0)) {
    throw new UsageError(`${owner}: timeoutMs must be a number of milliseconds, got ${shown(timeoutMs)}`)
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new UsageError(`${owner}: signal must be an AbortSignal, got ${shown(signal)}`)
  }
}

export class Deadline {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly #at: number

  constructor(clock: Clock, timeoutMs: number, signal?: AbortSignal) {
    this.clock = clock
    this.timeoutMs = timeoutMs
    this.signal = signal
    allowManyListeners(signal)
    this.#at = clock.now() + timeoutMs
  }

  /** Milliseconds left, never negative. */
  remainingMs(): number {
    return Math.max(0, this.#at - this.clock.now())
  }

  get isOver(): boolean {
    return this.signal?.aborted === true || this.clock.now() >= this.#at
  }

  /** Throws when the time is up or the signal has fired; `cause` is the last failure that was retried. */
  check(what: string, cause?: unknown): void {
    if (this.signal?.aborted) throw abortedError(this.signal, what)
    if (this.clock.now() >= this.#at) throw timeoutError(what, this.timeoutMs, cause)
  }

  /** Sleeps, but not past the deadline. */
  sleep(ms: number): Promise<void> {
    return this.clock.sleep(Math.min(ms, this.remainingMs()), this.signal)
  }

  /** The promise, or an error when the deadline is over first. Leaves no timer and no listener behind. */
  race<T>(promise: Promise<T>, what: string, cause?: () => unknown): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { signal } = this
      const settle = () => {
        timer?.cancel()
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = () => {
        settle()
        reject(abortedError(signal as AbortSignal, what))
      }
      const onTime = () => {
        settle()
        reject(timeoutError(what, this.timeoutMs, cause?.()))
      }
      if (signal?.aborted) {
        promise.catch(() => {})
        reject(abortedError(signal, what))
        return
      }
      const timer = Number.isFinite(this.timeoutMs) ? this.clock.setTimer(this.remainingMs(), onTime) : undefined
      signal?.addEventListener('abort', onAbort, { once: true })
      promise.then(
        (value) => {
          settle()
          resolve(value)
        },
        (error: unknown) => {
          settle()
          reject(error)
        },
      )
    })
  }
}
