// The async iterator behind `for await`, written by hand: what is buffered comes in promises that are resolved already. Shared by
// Consumer and GroupMember, which say where values come from.
import { abortedError } from '../../errors.js'
import { atEndOfTurn, type Clock } from '../../util/clock.js'

export interface PullSource<T> {
  /** Called once, by the first next(); rejects with what hinders the start. */
  begin(signal: AbortSignal | undefined): Promise<void>
  /** The next value if there is one now; throws what is to be thrown to the reader, which ends the iteration. */
  take(): T | undefined
  /** Nothing will come any more. */
  isOver(): boolean
  /** Until take() may have something, or isOver() another answer. Never rejects. */
  wait(): Promise<void>
  /** Ends a wait(). */
  wake(): void
  /** Called once, when the iteration is over for whatever reason. */
  end(): void
}

/** Values given out before the time is looked at, and milliseconds without a turn of the event loop: sockets and heartbeats need theirs. */
const valuesBetweenLooks = 64
const longestRunMs = 10

export class PullIterator<T> implements AsyncIterableIterator<T, undefined, undefined> {
  readonly #source: PullSource<T>
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined
  #state: 'new' | 'open' | 'over' = 'new'
  /** The last next() that could not be answered at once. */
  #pending: Promise<IteratorResult<T, undefined>> | undefined
  #untilLook = valuesBetweenLooks
  #turnedAt = 0

  constructor(source: PullSource<T>, clock: Clock, signal?: AbortSignal) {
    this.#source = source
    this.#clock = clock
    this.#signal = signal
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#state === 'open' && this.#pending === undefined && --this.#untilLook > 0) {
      let value: T | undefined
      try {
        value = this.#source.take()
      } catch (error) {
        this.#end()
        return Promise.reject(error)
      }
      if (value !== undefined) return Promise.resolve({ value, done: false })
    }
    // One after another, also when the caller does not wait for the one before.
    const before = this.#pending
    const pending =
      before === undefined
        ? this.#pull()
        : before.then(
            () => this.#pull(),
            () => this.#pull(),
          )
    this.#pending = pending
    const settled = () => {
      if (this.#pending === pending) this.#pending = undefined
    }
    pending.then(settled, settled)
    return pending
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#end()
    this.#source.wake()
    return Promise.resolve({ value: undefined, done: true })
  }

  readonly #onAbort = () => {
    this.#untilLook = 0 // the next value is not given out, even if it is buffered
    this.#source.wake()
  }

  async #pull(): Promise<IteratorResult<T, undefined>> {
    try {
      if (this.#state === 'new') {
        this.#checkSignal()
        this.#signal?.addEventListener('abort', this.#onAbort, { once: true })
        await this.#source.begin(this.#signal)
        // return() may have been called meanwhile.
        if ((this.#state as string) === 'new') this.#state = 'open'
      }
      if (this.#untilLook <= 0) await this.#look()
      for (;;) {
        if (this.#state === 'over') return { value: undefined, done: true }
        this.#checkSignal()
        const value = this.#source.take()
        if (value !== undefined) return { value, done: false }
        if (this.#source.isOver()) {
          this.#end()
          return { value: undefined, done: true }
        }
        await this.#source.wait()
        this.#turnedAt = this.#clock.now()
      }
    } catch (error) {
      this.#end()
      throw error
    }
  }

  /** Resolved promises alone would keep the event loop from everything else for as long as the buffers last. */
  async #look(): Promise<void> {
    this.#untilLook = valuesBetweenLooks
    if (this.#clock.now() - this.#turnedAt < longestRunMs) return
    await new Promise<void>(atEndOfTurn)
    this.#turnedAt = this.#clock.now()
  }

  #checkSignal(): void {
    if (this.#signal?.aborted) throw abortedError(this.#signal, 'reading')
  }

  #end(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#source.end()
  }
}
