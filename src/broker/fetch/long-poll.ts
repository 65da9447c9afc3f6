// Waits until enough can be read: Kafka's delayed fetch. Woken by appends and changes of leadership, ended by the maximal wait or
// the end of the connection.
import type { Clock } from '../../util/clock.js'
import type { Partition } from '../topic.js'

export interface LongPoll {
  readonly clock: Clock
  readonly maxWaitMs: number
  readonly signal: AbortSignal
  readonly partitions: Iterable<Partition>
  /** Looks again; true ends the wait. */
  readonly isReady: () => boolean
}

/** Resolves when ready, or when the time is up, or the connection gone. Leaves no timer and no listener behind. */
export function longPoll({ clock, maxWaitMs, signal, partitions, isReady }: LongPoll): Promise<void> {
  return new Promise((resolve) => {
    let isScheduled = false
    const look = () => {
      isScheduled = false
      if (!isDone && isReady()) done()
    }
    // Several appends of one request are looked at once.
    const onChange = () => {
      if (isScheduled || isDone) return
      isScheduled = true
      queueMicrotask(look)
    }
    let isDone = false
    const done = () => {
      isDone = true
      timer.cancel()
      signal.removeEventListener('abort', done)
      for (const unwatch of unwatches) unwatch()
      resolve()
    }
    const unwatches = [...partitions].map((partition) => partition.watch(onChange))
    const timer = clock.setTimer(maxWaitMs, done)
    signal.addEventListener('abort', done, { once: true })
  })
}
