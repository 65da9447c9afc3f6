// A clock that stands still until a test moves it. advance() fires timers one by one and lets promises settle between them.
import { sleepOn, type Clock, type Timer } from '../../src/util/clock.js'

export class ManualClock implements Clock {
  #now = 0
  readonly #epoch: number
  readonly #timers = new Set<{ readonly dueAt: number; readonly callback: () => void }>()

  constructor(epoch = Date.UTC(2026, 0, 1)) {
    this.#epoch = epoch
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  date(): number {
    return this.#epoch + this.#now
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { dueAt: this.#now + Math.max(0, delayMs), callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal)
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      await settled()
      let next: { readonly dueAt: number; readonly callback: () => void } | undefined
      for (const timer of this.#timers) if (timer.dueAt <= end && (!next || timer.dueAt < next.dueAt)) next = timer
      if (!next) break
      this.#timers.delete(next)
      this.#now = next.dueAt
      next.callback()
    }
    this.#now = end
  }
}

/** Returns when everything that promises had to do is done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
