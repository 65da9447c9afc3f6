// Where the partitions of a feed belong: which fetcher (the leader's), and at which offset they start. Follows the metadata, looks
// offsets up, and decides what an error of one partition leads to. Gives nothing out: that is the feed's.
import { isKafkaError, KafkaError } from '../../errors.js'
import { errorByName } from '../../protocol/messages/error-table.js'
import { zeroUuid } from '../../protocol/wire/index.js'
import { backoffMs } from '../../util/backoff.js'
import type { Clock, Timer } from '../../util/clock.js'
import type { Cluster } from '../cluster/cluster.js'
import { outcomeOf } from './fetch-reactions.js'
import type { FetchAnswer, PartitionAnswer } from './fetch-request.js'
import { Fetcher, type FetchConfig, type FetcherHost } from './fetcher.js'
import type { FoundOffset, OffsetLookup, OffsetQuestion } from './offset-lookup.js'
import type { Home, PartitionFeed } from './partition-feed.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'
import type { OutOfRangePolicy, StartPosition } from './positions.js'

export interface PositionResetEvent extends TopicPartition {
  readonly reason: 'OFFSET_OUT_OF_RANGE' | 'TOPIC_RECREATED'
  readonly from: number
  readonly to: number
}

/** What the placement tells the feed. */
export interface PlacementListener {
  readable(partition: PartitionFeed): void
  located(partition: PartitionFeed): void
  /** To be thrown to the reader; of the whole broker when there is no partition. */
  failed(partition: PartitionFeed | undefined, error: KafkaError): void
  reset(event: PositionResetEvent): void
}

export interface PlacementParts {
  readonly cluster: Cluster
  readonly config: FetchConfig
  readonly outOfRange: OutOfRangePolicy | Date
  readonly lookup: OffsetLookup
}

export class Placement implements FetcherHost {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly config: FetchConfig
  readonly #parts: PlacementParts
  readonly #listener: PlacementListener
  readonly #partitions = new Set<PartitionFeed>()
  readonly #fetchers = new Map<number, Fetcher>()
  readonly #closing = new AbortController()
  readonly #unlisten: () => void
  #timer: Timer | undefined
  #isScheduled = false

  constructor(parts: PlacementParts, listener: PlacementListener) {
    this.cluster = parts.cluster
    this.clock = parts.cluster.clock
    this.config = parts.config
    this.#parts = parts
    this.#listener = listener
    this.#unlisten = this.cluster.onMetadata(() => {
      this.#followMetadata()
    })
  }

  add(partition: PartitionFeed): void {
    this.#partitions.add(partition)
    this.#schedule()
  }

  remove(partition: PartitionFeed): void {
    this.#partitions.delete(partition)
    this.#unplace(partition)
  }

  /** After a seek, a resume, or when the reader has made room. */
  changed(partition: PartitionFeed): void {
    if (partition.isSettled) partition.fetcher?.schedule()
    else this.#schedule()
  }

  /** The partition cannot be read where it stands: try again later. */
  delay(partition: PartitionFeed, error: KafkaError, what = `fetch of ${partition.name}`): void {
    const { retryBackoffMs: baseMs, retryBackoffMaxMs: maxMs } = this.cluster.config
    const waitMs = backoffMs({ baseMs, maxMs }, ++partition.attempts)
    partition.retryAt = this.clock.now() + waitMs
    this.changed(partition)
    this.#tellRetry(what, partition.attempts, waitMs, error)
  }

  close(): void {
    this.#closing.abort()
    this.#unlisten()
    this.#timer?.cancel()
    for (const fetcher of this.#fetchers.values()) fetcher.close()
    this.#partitions.clear()
  }

  // ---- what fetchers ask and tell

  shareBytes(): number {
    let brokers = 0
    for (const fetcher of this.#fetchers.values()) if (fetcher.partitions.size > 0) brokers++
    return this.config.prefetchBytes / Math.max(1, brokers)
  }

  answered(partition: PartitionFeed, answer: PartitionAnswer, response: FetchAnswer, nodeId: number): void {
    const outcome = outcomeOf(partition, answer, nodeId)
    if (outcome.kind === 'records') {
      partition.attempts = 0
      partition.isDrainedFirst = false
      partition.queue.push(outcome.batches, outcome.aborted)
      partition.fetchOffset = outcome.nextOffset
      this.#listener.readable(partition)
    } else if (outcome.kind === 'nothing') {
      partition.attempts = 0
      partition.isDrainedFirst = false
    } else if (outcome.kind === 'retry') {
      if (outcome.needsMetadata) {
        const { currentLeader } = answer
        const isNews =
          currentLeader.leaderId >= 0 &&
          this.cluster.updateLeader(partition.topic, partition.partition, {
            ...currentLeader,
            nodeEndpoints: response.nodeEndpoints,
          })
        if (!isNews) this.cluster.refresh(outcome.error.message)
        else if (partition.fetcher?.nodeId !== nodeId) return // it is with the new leader already
      }
      this.delay(partition, outcome.error)
    } else if (!partition.queue.isEmpty) {
      // What is buffered is given out first; then the same answer comes again, and counts.
      partition.isDrainedFirst = true
    } else if (outcome.kind === 'outOfRange') {
      this.#reset(partition, 'OFFSET_OUT_OF_RANGE', outcome.error)
    } else {
      this.delay(partition, outcome.error)
      this.#listener.failed(partition, outcome.error)
    }
  }

  failed(nodeId: number, error: KafkaError, attempt: number, delayMs: number): void {
    if (error.code === 'CLOSED') return
    this.cluster.refresh(`fetching from broker ${nodeId} failed: ${error.message}`)
    this.#tellRetry(`fetch from broker ${nodeId}`, attempt, delayMs, error)
    if (!error.retriable) this.#listener.failed(undefined, error)
  }

  // ---- leaders

  #followMetadata(): void {
    for (const partition of this.#partitions) {
      const topic = this.cluster.cachedTopic(partition.topic)
      if (topic === undefined || topic.error !== undefined) continue
      const { topicId } = topic
      if (partition.topicId !== topicId && partition.topicId !== zeroUuid && topicId !== zeroUuid)
        this.#recreated(partition)
      this.#place(partition)
    }
    this.#schedule()
  }

  /** Brings a partition to its leader's fetcher; false while there is no leader. */
  #place(partition: PartitionFeed): boolean {
    const topic = this.cluster.cachedTopic(partition.topic)
    const metadata = topic?.partitions[partition.partition]
    if (topic === undefined || metadata === undefined || metadata.leaderId < 0) {
      this.#unplace(partition)
      return false
    }
    partition.topicId = topic.topicId
    partition.currentLeaderEpoch = metadata.leaderEpoch
    if (partition.fetcher?.nodeId === metadata.leaderId) return true
    this.#unplace(partition)
    let fetcher = this.#fetchers.get(metadata.leaderId)
    if (fetcher === undefined) {
      fetcher = new Fetcher(metadata.leaderId, this)
      this.#fetchers.set(metadata.leaderId, fetcher)
    }
    partition.fetcher = fetcher
    fetcher.partitions.add(partition)
    fetcher.schedule()
    return true
  }

  #unplace(partition: PartitionFeed): void {
    partition.fetcher?.partitions.delete(partition)
    partition.fetcher = undefined
    partition.flight = undefined
  }

  // ---- start positions, and partitions without a leader

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      if (!this.#closing.signal.aborted) this.#tend()
    })
  }

  /** Does what can be done now for the partitions that have no leader or no offset yet. */
  #tend(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const now = this.clock.now()
    let earliest = Infinity
    const byLeader = new Map<Home, PartitionFeed[]>()
    for (const partition of this.#partitions) {
      if (partition.isSettled || partition.isLocating) continue
      if (partition.retryAt <= now) {
        if (!this.#place(partition)) this.#homeless(partition)
        else if (partition.start !== undefined) {
          const group = byLeader.get(partition.fetcher!)
          if (group) group.push(partition)
          else byLeader.set(partition.fetcher!, [partition])
        }
      }
      if (partition.retryAt > now) earliest = Math.min(earliest, partition.retryAt)
    }
    // One lookup per leader: a slow one holds up its own partitions only. What fails for one of them is tried again for that one.
    for (const group of byLeader.values()) {
      this.#locate(group).catch((error: unknown) => {
        this.#listener.failed(undefined, unexpected(error))
      })
    }
    if (earliest < Infinity) {
      this.#timer = this.clock.setTimer(earliest - now, () => {
        this.#tend()
      })
    }
  }

  #homeless(partition: PartitionFeed): void {
    const topic = this.cluster.cachedTopic(partition.topic)
    if (topic === undefined) {
      // Not in use yet, or forgotten: asking for it by name brings it back.
      const deadline = this.cluster.deadline(this.cluster.config.requestTimeoutMs, this.#closing.signal)
      this.cluster.topics([partition.topic], deadline).catch(() => {})
    } else this.cluster.refresh(`${partition.name} has no leader`)
    const error =
      topic?.error ??
      new KafkaError(`${partition.name} has no leader that is known`, { code: 'LEADER_NOT_AVAILABLE', retriable: true })
    this.delay(partition, error, `finding the leader of ${partition.name}`)
    if (!error.retriable) this.#listener.failed(partition, error)
  }

  async #locate(group: readonly PartitionFeed[]): Promise<void> {
    const asked = group.map((partition) => {
      partition.isLocating = true
      const { source, start } = partition
      return {
        partition,
        source,
        start: start!,
        nearest: partition.reset?.isNearest === true ? partition.reset.from : undefined,
      }
    })
    const questions = asked.flatMap(({ source: { topic, partition }, start, nearest }): OffsetQuestion[] =>
      nearest === undefined
        ? [{ topic, partition, at: start }]
        : [
            { topic, partition, at: 'beginning' },
            { topic, partition, at: 'end' },
          ],
    )
    const deadline = this.cluster.deadline(Infinity, this.#closing.signal)
    let outcomes: (FoundOffset | KafkaError)[]
    try {
      outcomes = await this.#parts.lookup.outcomes(questions, deadline)
    } catch (error) {
      const failure = isKafkaError(error) ? error : unexpected(error)
      outcomes = questions.map(() => failure)
    }
    if (this.#closing.signal.aborted) return
    for (const { partition, source, nearest } of asked) {
      const outcome = outcomes.shift()!
      const other = nearest === undefined ? undefined : outcomes.shift()!
      // Sought or revoked since: what was looked up is of no interest any more.
      if (partition.isRevoked || partition.source !== source) continue
      partition.isLocating = false
      if (isKafkaError(outcome)) this.#notLocated(partition, outcome)
      else if (isKafkaError(other)) this.#notLocated(partition, other)
      else if (other === undefined || nearest! <= outcome.offset) this.#located(partition, outcome.offset)
      else this.#located(partition, Math.min(other.offset, nearest!))
    }
  }

  #located(partition: PartitionFeed, offset: number): void {
    const { reset } = partition
    partition.reset = undefined
    if (reset === undefined) partition.attempts = 0
    partition.locatedAt(offset)
    this.changed(partition)
    if (reset !== undefined) {
      const { topic } = partition
      const event = { topic, partition: partition.partition, reason: reset.reason, from: reset.from, to: offset }
      this.cluster.logger.warn(`${partition.name} goes on at another offset`, { ...event })
      this.#tell(() => {
        this.#listener.reset(event)
      })
    }
    this.#listener.located(partition)
  }

  #notLocated(partition: PartitionFeed, error: KafkaError): void {
    if (errorByName(error.code)?.reaction === 'refreshMetadata') this.cluster.refresh(error.message)
    this.delay(partition, error, `looking up an offset of ${partition.name}`)
    if (!error.retriable) this.#listener.failed(partition, error)
  }

  // ---- positions that are not in the log

  #reset(partition: PartitionFeed, reason: PositionResetEvent['reason'], error: KafkaError): void {
    const { outOfRange } = this.#parts
    if (outOfRange === 'error') {
      this.delay(partition, error)
      this.#listener.failed(partition, error)
      return
    }
    const isNearest = outOfRange === 'nearest' && reason === 'OFFSET_OUT_OF_RANGE'
    const start: StartPosition = outOfRange === 'nearest' ? 'beginning' : outOfRange
    const from = partition.offset
    partition.moveTo(start)
    partition.reset = { reason, from, isNearest }
    // The first time at once; if what was looked up is out of range again, with backoff.
    if (++partition.attempts > 1) {
      partition.attempts--
      this.delay(partition, error)
    } else this.changed(partition)
  }

  #recreated(partition: PartitionFeed): void {
    const from = partition.offset
    const { topic } = partition
    const message = `topic ${topic} was deleted and created anew: offset ${from} of ${partition.name} means nothing any more`
    partition.fetchAgain()
    // Still being looked up: the answer is that of the topic that is gone.
    if (from < 0) partition.moveTo(partition.start!)
    else this.#reset(partition, 'TOPIC_RECREATED', new KafkaError(message, { code: 'TOPIC_RECREATED' }))
  }

  #tellRetry(what: string, attempt: number, waitMs: number, error: KafkaError): void {
    this.cluster.logger.debug(`${what} failed, tried again`, { attempt, waitMs, error: error.message })
    this.#tell(() => {
      this.cluster.events.emit('retry', { what, attempt, waitMs, error })
    })
  }

  /** What a listener of the user's throws must not break the fetching. */
  #tell(emit: () => void): void {
    try {
      emit()
    } catch (error) {
      this.cluster.logger.error('a listener threw', { error })
    }
  }
}

function unexpected(cause: unknown): KafkaError {
  return new KafkaError('looking up offsets failed in a way that it should not', {
    code: 'UNKNOWN_SERVER_ERROR',
    cause,
  })
}
