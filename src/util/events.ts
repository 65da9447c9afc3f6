// Typed events, held by composition: owners expose on/off/once and keep emit to themselves.
import { EventEmitter } from 'eventemitter3'

export class Events<Map extends object> {
  readonly #emitter = new EventEmitter<string>()

  on<Name extends keyof Map & string>(name: Name, listener: (event: Map[Name]) => unknown): void {
    this.#emitter.on(name, listener as (event: unknown) => void)
  }

  off<Name extends keyof Map & string>(name: Name, listener: (event: Map[Name]) => unknown): void {
    this.#emitter.off(name, listener as (event: unknown) => void)
  }

  once<Name extends keyof Map & string>(name: Name, listener: (event: Map[Name]) => unknown): void {
    this.#emitter.once(name, listener as (event: unknown) => void)
  }

  has(name: keyof Map & string): boolean {
    return this.#emitter.listenerCount(name) > 0
  }

  emit<Name extends keyof Map & string>(name: Name, event: Map[Name]): void {
    this.#emitter.emit(name, event)
  }

  /** Calls the listeners one after another and awaits what each returns; their errors reach the caller together. */
  async emitAndWait<Name extends keyof Map & string>(name: Name, event: Map[Name]): Promise<void> {
    const errors: unknown[] = []
    for (const listener of this.#emitter.listeners(name)) {
      try {
        await (listener as (event: unknown) => unknown)(event)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} listeners of '${name}' failed`)
  }

  clear(): void {
    this.#emitter.removeAllListeners()
  }
}
