// Notices a handler that has had its record for too long (Java's max.poll.interval.ms). Costs a counter per record, not a timer.
import type { Clock, Timer } from '../../util/clock.js'

/** The limit is checked so often within its length, and so kept to a quarter of it. */
const CHECKS = 4

export class ProcessingWatch {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #isHandling: () => boolean
  readonly #onStalled: () => void
  #polls = 0
  #pollsSeen = 0
  #checksWithoutPoll = 0
  #timer: Timer | undefined

  constructor(clock: Clock, limitMs: number, isHandling: () => boolean, onStalled: () => void) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#isHandling = isHandling
    this.#onStalled = onStalled
  }

  /** The handler asked for its next record. */
  polled(): void {
    this.#polls++
  }

  start(): void {
    this.#timer = this.#clock.setTimer(this.#limitMs / CHECKS, () => {
      this.start()
      this.#check()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #check(): void {
    const isStuck = this.#isHandling() && this.#polls === this.#pollsSeen
    this.#checksWithoutPoll = isStuck ? this.#checksWithoutPoll + 1 : 0
    this.#pollsSeen = this.#polls
    if (this.#checksWithoutPoll === CHECKS) this.#onStalled()
  }
}
