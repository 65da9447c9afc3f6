// The only source of time and timers in ottla. Deadlines use now(), which never jumps; timestamps use date().
import { abortedError } from '../errors.js'

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Monotonic milliseconds, unrelated to the calendar. */
  now(): number
  /** Milliseconds since the Unix epoch. */
  date(): number
  setTimer(delayMs: number, callback: () => void): Timer
  /** Rejects with code ABORTED when the signal fires; leaves no timer and no listener behind. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

// Node turns a longer delay into 1 ms.
const LONGEST_TIMER_MS = 2 ** 31 - 1

class SystemTimer implements Timer {
  readonly #handle: NodeJS.Timeout

  constructor(delayMs: number, callback: () => void) {
    this.#handle = setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS))
  }

  cancel(): void {
    clearTimeout(this.#handle)
  }
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  setTimer: (delayMs, callback) => new SystemTimer(delayMs, callback),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
}

/** The one implementation of sleep(), for every kind of clock. */
export function sleepOn(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortedError(signal, 'a wait'))
      return
    }
    const onAbort = () => {
      timer.cancel()
      reject(abortedError(signal as AbortSignal, 'a wait'))
    }
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Calls back when everything that this turn of the event loop brought has been handled, however far the clock is moved. */
export function atEndOfTurn(callback: () => void): void {
  setImmediate(callback)
}

/** Calls back when all that follows from promises settled by now is done, before the event loop turns. */
export function afterPromises(callback: () => void): void {
  process.nextTick(callback)
}
