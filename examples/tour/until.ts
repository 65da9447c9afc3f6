// Waits for something that other processes bring about.
import { setTimeout as sleep } from 'node:timers/promises'

export async function until(what: string, holds: () => boolean, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await sleep(10)
  }
}
