// Calls back for each item at its time, all by one timer.
import type { Clock, Timer } from '../../util/clock.js'

export class Alarms<Item> {
  readonly #clock: Clock
  readonly #ring: (item: Item) => void
  readonly #times = new Map<Item, number>()
  #timer: Timer | undefined
  #timerAt = Infinity

  constructor(clock: Clock, ring: (item: Item) => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** At this monotonic time, or at the one set before if that is earlier. */
  set(item: Item, at: number): void {
    if (at >= (this.#times.get(item) ?? Infinity)) return
    this.#times.set(item, at)
    if (at < this.#timerAt) this.#arm(at)
  }

  clear(): void {
    this.#times.clear()
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerAt = Infinity
  }

  #arm(at: number): void {
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#clock.setTimer(Math.max(0, at - this.#clock.now()), () => this.#fire())
  }

  #fire(): void {
    const now = Math.max(this.#clock.now(), this.#timerAt) // a timer may be early by a fraction
    this.#timer = undefined
    this.#timerAt = Infinity
    let next = Infinity
    for (const [item, at] of this.#times) {
      if (at <= now) {
        this.#times.delete(item)
        this.#ring(item)
      } else if (at < next) {
        next = at
      }
    }
    if (next < this.#timerAt) this.#arm(next)
  }
}
