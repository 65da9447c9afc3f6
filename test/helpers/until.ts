// Waits for something to become true, instead of sleeping.
import { setTimeout as sleep } from 'node:timers/promises'

/** Returns the first truthy answer; fails with what was waited for after `timeoutMs`. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await condition()
    if (answer) return answer
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await sleep(5)
  }
}
