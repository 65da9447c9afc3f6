// Runs in every test file's process: an unhandled rejection, an uncaught exception or a handle left open fails the file.
// It only watches; it never closes what a test forgot.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'

const watched = [
  'TCPSocketWrap',
  'TCPServerWrap',
  'Timeout',
  'UDPWrap',
  'TLSWrap',
  'ProcessWrap',
  'FSEventWrap',
  'MessagePort',
]
const graceMs = 1000

const handles = (): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) {
    if (watched.includes(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

const leftOpen = (before: Map<string, number>): string[] =>
  [...handles()].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0)
    return more > 0 ? [`${more} ${kind}`] : []
  })

const failures: unknown[] = []
const onFailure = (reason: unknown): void => void failures.push(reason)
let before = new Map<string, number>()

beforeAll(() => {
  process.on('unhandledRejection', onFailure)
  process.on('uncaughtException', onFailure)
  before = handles()
  before.delete('Timeout') // the runner's own short timers are gone before the grace is over
})

afterAll(async () => {
  // A socket that was destroyed needs a few turns until it is gone; what is still there after the grace is a leak.
  const deadline = performance.now() + graceMs
  let left = leftOpen(before)
  do {
    await sleep(10)
    await new Promise((resolve) => setImmediate(resolve))
    left = leftOpen(before)
  } while (left.length > 0 && performance.now() < deadline)
  process.off('unhandledRejection', onFailure)
  process.off('uncaughtException', onFailure)
  if (failures.length > 0) throw new AggregateError(failures, `unhandled: ${failures.map(String).join('; ')}`)
  if (left.length > 0) throw new Error(`handles left open by this test file: ${left.join(', ')} (close every owner)`)
})
