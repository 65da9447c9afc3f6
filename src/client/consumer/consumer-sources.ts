// What the iterators of a consumer pull from: records one by one, or batches, filled up to a size or a time.
import { integer, option, optional, resolveOptions, type Resolved } from '../../util/options.js'
import type { Clock, Timer } from '../../util/clock.js'
import type { AnyRecord, ConsumerBatch } from './consumer-record.js'
import type { RecordFeed } from './record-feed.js'

export interface BatchesOptions {
  /** @default 1000 */
  readonly maxRecords?: number | undefined
  /** Of keys, values and headers; one record comes in any case. @default no limit */
  readonly maxBytes?: number | undefined
  /** Milliseconds to wait for a batch to be full; 0: what is there is given out. @default 0 */
  readonly maxWaitMs?: number | undefined
  /** Ends the iteration with ABORTED. */
  readonly signal?: AbortSignal | undefined
}

const batchesOptions = {
  maxRecords: option(integer(1, 2 ** 31 - 1), 1000),
  maxBytes: option(integer(1, Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER),
  maxWaitMs: option(integer(0, 86_400_000), 0),
  signal: optional<AbortSignal>((value, fail) => (value instanceof AbortSignal ? value : fail('an AbortSignal'))),
}

export type BatchesConfig = Resolved<typeof batchesOptions>

export function batchesConfig(owner: string, options: BatchesOptions): BatchesConfig {
  return resolveOptions(owner, options, batchesOptions)
}

/** take() and wait() as PullSource has them; stop() when the iteration is over. */
export interface FeedSourceOf<T> {
  readonly take: () => T | undefined
  readonly wait: () => Promise<void>
  readonly stop: () => void
}

export function recordSource<R extends AnyRecord>(feed: RecordFeed): FeedSourceOf<R> {
  return { take: () => feed.next() as R | undefined, wait: () => feed.wait(), stop: () => {} }
}

export function batchSource<R extends AnyRecord>(
  feed: RecordFeed,
  clock: Clock,
  limits: Omit<BatchesConfig, 'signal'>,
): FeedSourceOf<ConsumerBatch<R>> {
  const { maxWaitMs } = limits
  /** Of the batch that is being filled. It stays in the feed until it is given out: neither position nor commit may be behind it. */
  let first: AnyRecord | undefined
  let timer: Timer | undefined
  let isTimeOver = false
  const release = () => {
    timer?.cancel()
    timer = undefined
    first = undefined
    isTimeOver = false
  }
  return {
    take() {
      const batch = feed.nextBatch(limits)
      if (batch?.records[0] !== first) release()
      if (batch === undefined || maxWaitMs === 0) return batch as ConsumerBatch<R> | undefined
      if (feed.isLastFull || isTimeOver || feed.isFinished) {
        release()
        return batch as ConsumerBatch<R>
      }
      first = batch.records[0]
      feed.unread()
      timer ??= clock.setTimer(maxWaitMs, () => {
        isTimeOver = true
        feed.wake()
      })
      return undefined
    },
    // While a batch is being filled, what there is already is no reason to look again.
    wait: () => (first === undefined ? feed.wait() : feed.changed()),
    stop: release,
  }
}
