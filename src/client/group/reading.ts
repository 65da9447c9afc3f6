// One iteration at a time over what a member reads: what the handler asks for marks as done what it had.
import { abortedError, UsageError } from '../../errors.js'
import type { Cluster } from '../cluster/index.js'
import type { FeedSourceOf } from '../consumer/consumer-sources.js'
import { PullIterator } from '../consumer/pull-iterator.js'
import type { RecordFeed } from '../consumer/record-feed.js'
import type { ProcessingWatch } from './processing-watch.js'
import type { Progress } from './progress.js'

export interface ReadingParts {
  readonly cluster: Cluster
  readonly feed: RecordFeed
  readonly progress: Progress
  readonly watch: ProcessingWatch
  /** Has the member join, if it has not begun to; throws when it is closed or cannot go on. */
  readonly begin: () => Promise<void>
  /** Before every record: throws what is to be thrown to the reader, and has a dormant member join again. */
  readonly asked: () => void
  readonly isClosed: () => boolean
}

export class Reading {
  readonly #parts: ReadingParts
  #isIterating = false

  constructor(parts: ReadingParts) {
    this.#parts = parts
  }

  /** `gave` is told of every value that goes to the handler. */
  iterate<R>(source: FeedSourceOf<R>, gave: (value: R) => void, signal: AbortSignal | undefined): PullIterator<R> {
    const { cluster, feed, progress, watch, begin, asked, isClosed } = this.#parts
    let isOurs = false
    // The signal is looked at here: who asks for more after it has fired is told so, but is through with what it had.
    const checkSignal = () => {
      if (signal?.aborted) throw abortedError(signal, 'reading')
    }
    const wake = () => feed.wake()
    return new PullIterator(
      {
        begin: async () => {
          checkSignal()
          if (this.#isIterating) {
            throw new UsageError(
              'GroupMember: it is being iterated already; end that iteration first, or use another member',
            )
          }
          this.#isIterating = true
          isOurs = true
          progress.resumed()
          signal?.addEventListener('abort', wake, { once: true })
          await cluster.deadline(Infinity, signal).race(begin(), 'GroupMember: reading')
        },
        take: () => {
          progress.finished()
          watch.polled()
          checkSignal()
          asked()
          const value = source.take()
          if (value !== undefined) gave(value)
          return value
        },
        isOver: isClosed,
        wait: () => source.wait(),
        wake,
        end: () => {
          if (!isOurs) return
          this.#isIterating = false
          signal?.removeEventListener('abort', wake)
          progress.abandoned()
          source.stop()
        },
      },
      cluster.clock,
    )
  }
}
