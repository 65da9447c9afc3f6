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

  /** A listener that throws is its author's uncaught exception, and not an error of what was going on here. */
  emit<Name extends keyof Map & string>(name: Name, event: Map[Name]): void {
    for (const listener of this.#called(name)) {
      try {
        listener(event)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  /** Calls the listeners one after another and awaits what each returns; their errors reach the caller together. */
  async emitAndWait<Name extends keyof Map & string>(name: Name, event: Map[Name]): Promise<void> {
    const errors: unknown[] = []
    for (const listener of this.#called(name)) {
      try {
        await listener(event)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} listeners of '${name}' failed`)
  }

  /** Those to call now; whoever asked for one event has had it then. */
  #called(name: string): readonly ((event: unknown) => unknown)[] {
    const listeners = this.#emitter.listeners(name)
    for (const listener of listeners) this.#emitter.off(name, listener, undefined, true)
    return listeners
  }

  clear(): void {
    this.#emitter.removeAllListeners()
  }
}
