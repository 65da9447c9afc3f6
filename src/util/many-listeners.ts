// One signal may end many waits at once: Node would take the eleventh listener for a leak and print a warning.
import { setMaxListeners } from 'node:events'

export function allowManyListeners(signal: AbortSignal | undefined): void {
  if (signal) setMaxListeners(0, signal)
}
