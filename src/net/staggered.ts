// Happy eyeballs (RFC 8305) for anything: tasks are started one after another, a little apart, and the first to succeed wins.
import type { Clock, Timer } from '../util/clock.js'
import { allowManyListeners } from '../util/many-listeners.js'

export interface StaggerOptions<T> {
  readonly clock: Clock
  /** Milliseconds until the next task is started; at once when one fails. */
  readonly staggerMs: number
  /** Ends everything; the promise rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Takes what a task brings after another one has won. */
  readonly onLate?: ((value: T) => void) | undefined
}

/** Each task gets a signal that fires when it is no longer needed. Rejects with an AggregateError of all errors when none succeeds. */
export function staggered<T>(
  tasks: readonly ((signal: AbortSignal) => Promise<T>)[],
  { clock, staggerMs, signal, onLate }: StaggerOptions<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const others = new AbortController()
    allowManyListeners(others.signal)
    allowManyListeners(signal)
    const errors: unknown[] = []
    let started = 0
    let isOver = false
    let timer: Timer | undefined

    const end = () => {
      isOver = true
      timer?.cancel()
      signal?.removeEventListener('abort', onAbort)
      others.abort()
    }
    const onAbort = () => {
      end()
      reject(signal?.reason as Error)
    }
    const startNext = () => {
      timer?.cancel()
      const task = tasks[started++]
      if (!task) return
      if (started < tasks.length) timer = clock.setTimer(staggerMs, startNext)
      task(others.signal).then(
        (value) => {
          if (isOver) {
            onLate?.(value)
            return
          }
          end()
          resolve(value)
        },
        (error: unknown) => {
          if (isOver) return
          errors.push(error)
          if (errors.length === tasks.length) {
            end()
            reject(new AggregateError(errors, `all of ${tasks.length} attempts failed`))
          } else if (started < tasks.length) {
            startNext()
          }
        },
      )
    }

    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    if (tasks.length === 0) {
      reject(new AggregateError([], 'there is nothing to try'))
      return
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    startNext()
  })
}
