// The hard limit on bytes that are not delivered yet. Who does not fit waits, in order; nobody overtakes.

export interface Waiter {
  readonly bytes: number
  /** There is room for `bytes`: takes what it needs of it. */
  admit(): void
}

export class Budget {
  readonly limit: number
  #used = 0
  /** In order of arrival. */
  readonly #waiting = new Set<Waiter>()
  #isAdmitting = false

  constructor(limit: number) {
    this.limit = limit
  }

  get used(): number {
    return this.#used
  }

  get waiting(): ReadonlySet<Waiter> {
    return this.#waiting
  }

  /** Whether so many bytes may be taken now: there is room, and nobody has waited for it longer. */
  fits(bytes: number): boolean {
    return this.#used + bytes <= this.limit && this.#waiting.size === 0
  }

  take(bytes: number): void {
    this.#used += bytes
  }

  release(bytes: number): void {
    this.#used -= bytes
    this.#admit()
  }

  wait(waiter: Waiter): void {
    this.#waiting.add(waiter)
  }

  giveUp(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#admit()
  }

  #admit(): void {
    if (this.#isAdmitting) return // admitting releases again when a record turns out to be refused
    this.#isAdmitting = true
    for (const waiter of this.#waiting) {
      if (this.#used + waiter.bytes > this.limit) break
      this.#waiting.delete(waiter)
      waiter.admit()
    }
    this.#isAdmitting = false
  }
}
