// A clock that runs with the real one and can be put forward: what is due then fires at once, in the order of its due time.
import { UsageError } from '../errors.js'
import { sleepOn, systemClock, type Clock, type Timer } from './clock.js'

interface Pending {
  readonly dueAt: number
  readonly fire: () => void
  timer: Timer
}

/** A clock that runs with the real one and can be put forward. */
export class SettableClock implements Clock {
  #offsetMs = 0
  readonly #pending = new Set<Pending>()

  now(): number {
    return systemClock.now() + this.#offsetMs
  }

  date(): number {
    return systemClock.date() + this.#offsetMs
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const fire = () => {
      this.#pending.delete(pending)
      callback()
    }
    const pending: Pending = { dueAt: this.now() + delayMs, fire, timer: systemClock.setTimer(delayMs, fire) }
    this.#pending.add(pending)
    return {
      cancel: () => {
        pending.timer.cancel()
        this.#pending.delete(pending)
      },
    }
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal)
  }

  /**
   * Puts the time forward: what is due by then fires at once, in order. What that sets anew counts from the new time.
   * @throws {UsageError} INVALID_OPTION
   */
  advance(ms: number): void {
    if (!(ms >= 0 && ms < Infinity)) {
      throw new UsageError(`clock.advance: ms must be a number of at least 0, got ${String(ms)}`, 'INVALID_OPTION')
    }
    this.#offsetMs += ms
    const now = this.now()
    for (const pending of [...this.#pending].sort((a, b) => a.dueAt - b.dueAt)) {
      if (!this.#pending.has(pending)) continue // cancelled by one that fired before it
      pending.timer.cancel()
      if (pending.dueAt <= now) pending.fire()
      else pending.timer = systemClock.setTimer(pending.dueAt - now, pending.fire)
    }
  }
}
