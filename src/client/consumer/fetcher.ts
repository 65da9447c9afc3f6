// Fetches from one broker what this broker leads: one request in flight, in a session, the next one sent before the last one is
// decoded. What an answer means for a partition is fetch-reactions.ts's; where partitions belong is the feed's.
import type { KafkaError } from '../../errors.js'
import { asKafkaError } from '../../errors.js'
import { Fetch } from '../../protocol/messages/fetch.js'
import { errorByCode, toKafkaError } from '../../protocol/messages/error-table.js'
import type { RequestInput } from '../../protocol/wire/index.js'
import { zeroUuid } from '../../protocol/wire/index.js'
import { backoffMs } from '../../util/backoff.js'
import { afterPromises, type Clock, type Timer } from '../../util/clock.js'
import type { Cluster } from '../cluster/cluster.js'
import {
  fetchRequest,
  firstVersionWithIds,
  requestKey,
  type FetchAnswer,
  type FetchLimits,
  type PartitionAnswer,
} from './fetch-request.js'
import { closedSession, stepSession, type SessionPartition, type SessionState } from './fetch-session.js'
import type { Isolation } from './offset-lookup.js'
import type { Flight, PartitionFeed } from './partition-feed.js'

export interface FetchConfig {
  readonly minBytes: number
  readonly maxBytes: number
  readonly maxPartitionBytes: number
  readonly maxWaitMs: number
  readonly prefetchBytes: number
  readonly isolation: Isolation
}

/** Answers of up to so many bytes of records reach the reader before the next request is made: that takes longer than reading them. */
const smallAnswerBytes = 1 << 14

/** What a fetcher needs of the feed it works for. */
export interface FetcherHost {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly config: FetchConfig
  /** The part of prefetchBytes that is this broker's. */
  shareBytes(): number
  answered(partition: PartitionFeed, answer: PartitionAnswer, response: FetchAnswer, nodeId: number): void
  /** The broker could not be asked, or did not answer for any partition. */
  failed(nodeId: number, error: KafkaError, attempt: number, delayMs: number): void
}

/** One request on its way. */
interface Asked {
  /** Topics go by their ids. */
  usesIds: boolean
  /** By requestKey. */
  readonly partitions: Map<string, { readonly partition: PartitionFeed; readonly flight: Flight }>
}

interface Choice {
  readonly wanted: readonly PartitionFeed[]
  /** There are partitions that would be asked for, had they not enough buffered. */
  readonly someAreFull: boolean
  readonly earliestRetryAt: number
  readonly bufferedBytes: number
}

export class Fetcher {
  readonly nodeId: number
  /** Those this broker leads; least recently served first. */
  readonly partitions = new Set<PartitionFeed>()
  readonly #host: FetcherHost
  #session: SessionState = closedSession
  #isAsking = false
  #isScheduled = false
  readonly #abort = new AbortController()
  #timer: Timer | undefined
  /** Failures of the broker since its last answer. */
  #attempts = 0
  #retryAt = 0
  /** When the rest may be asked again while some partitions are full. */
  #restAt = 0

  constructor(nodeId: number, host: FetcherHost) {
    this.nodeId = nodeId
    this.#host = host
  }

  /** Has pump() run when the caller is through; many calls make one. */
  schedule(soon: (callback: () => void) => void = queueMicrotask): void {
    if (this.#isScheduled || this.#isAsking) return
    this.#isScheduled = true
    soon(() => {
      this.#isScheduled = false
      this.pump()
    })
  }

  /** Sends the next request, if there is something to ask and none is on its way. */
  pump(): void {
    if (this.#isAsking || this.#abort.signal.aborted) return
    this.#timer?.cancel()
    this.#timer = undefined
    const now = this.#host.clock.now()
    if (this.#retryAt > now) {
      this.#pumpAt(this.#retryAt, now)
      return
    }
    let choice = this.#choose(now)
    if (choice.wanted.length === 0 && this.#dropPaused()) choice = this.#choose(now)
    if (choice.wanted.length === 0) {
      if (choice.earliestRetryAt < Infinity) this.#pumpAt(choice.earliestRetryAt, now)
    } else if (choice.someAreFull && this.#restAt > now) {
      this.#pumpAt(Math.min(this.#restAt, choice.earliestRetryAt), now)
    } else {
      this.#fetch(choice).catch((error: unknown) => {
        this.#failed(asKafkaError(error, 'a fetch'))
        this.pump()
      })
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#abort.abort()
    this.partitions.clear()
  }

  #pumpAt(at: number, now: number): void {
    this.#timer = this.#host.clock.setTimer(at - now, () => {
      this.pump()
    })
  }

  #choose(now: number): Choice {
    const { maxPartitionBytes } = this.#host.config
    const wanted: PartitionFeed[] = []
    let someAreFull = false
    let earliestRetryAt = Infinity
    let bufferedBytes = 0
    for (const partition of this.partitions) {
      bufferedBytes += partition.queue.bytes
      if (partition.retryAt > now) earliestRetryAt = Math.min(earliestRetryAt, partition.retryAt)
      else if (partition.isFetchable(now)) {
        if (partition.queue.bytes < maxPartitionBytes) wanted.push(partition)
        else someAreFull = true
      }
    }
    // Below half of the share, so that the next answer is worth its request.
    if (bufferedBytes * 2 > this.#host.shareBytes())
      return { wanted: [], someAreFull: true, earliestRetryAt, bufferedBytes }
    return { wanted, someAreFull, earliestRetryAt, bufferedBytes }
  }

  /** What paused partitions have buffered must not keep the others from being fetched. */
  #dropPaused(): boolean {
    let dropped = false
    for (const partition of this.partitions) {
      if (!partition.isPaused || partition.queue.bytes === 0) continue
      partition.dropWaiting()
      dropped = true
    }
    return dropped
  }

  async #fetch(choice: Choice): Promise<void> {
    const { cluster, config } = this.#host
    const asked: Asked = { usesIds: false, partitions: new Map() }
    this.#isAsking = true
    // While some partitions are full the broker must not park the request for the rest: a full one would have to wait for
    // it after the reader has emptied it. So it is asked without waiting, and no more often than it would be with waiting.
    const limits = {
      maxWaitMs: choice.someAreFull ? 0 : config.maxWaitMs,
      minBytes: config.minBytes,
      maxBytes: Math.min(config.maxBytes, Math.max(1, this.#host.shareBytes() - choice.bufferedBytes)),
      isolation: config.isolation,
    }
    const haveIds = choice.wanted.every(({ topicId }) => topicId !== zeroUuid)
    let response: FetchAnswer
    try {
      response = await cluster.send(
        this.nodeId,
        Fetch,
        (version) => {
          asked.usesIds = version >= firstVersionWithIds
          return this.#build(choice.wanted, limits, asked)
        },
        {
          channel: 'fetch',
          timeoutMs: config.maxWaitMs + cluster.config.requestTimeoutMs,
          maxVersion: haveIds ? undefined : firstVersionWithIds - 1,
          signal: this.#abort.signal,
        },
      )
    } catch (error) {
      this.#isAsking = false
      if (this.#abort.signal.aborted) return
      if (this.#session.kind === 'opening' || this.#session.kind === 'asking') {
        this.#session = stepSession(this.#session, { type: 'lost' })[0]
      }
      land(asked)
      this.#failed(asKafkaError(error, 'a fetch'))
      this.pump()
      return
    }
    if (this.#abort.signal.aborted) return
    let bytes = 0
    try {
      bytes = this.#answered(response, asked, choice.someAreFull)
    } finally {
      this.#isAsking = false
    }
    if (bytes === 0 || bytes > smallAnswerBytes) this.pump()
    else this.schedule(afterPromises)
  }

  #build(wanted: readonly PartitionFeed[], limits: FetchLimits, asked: Asked): RequestInput<typeof Fetch> {
    const { usesIds } = asked
    const now = this.#host.clock.now()
    const { maxPartitionBytes } = this.#host.config
    const partitions: SessionPartition[] = []
    for (const partition of wanted) {
      // Opening the connection may have taken a while.
      if (partition.fetcher !== this || !partition.isFetchable(now)) continue
      const { topic, topicId, fetchOffset } = partition
      const key = requestKey(usesIds ? topicId : topic, partition.partition)
      const flight = { fetchOffset }
      partition.flight = flight
      asked.partitions.set(key, { partition, flight })
      partitions.push({
        key,
        topic,
        topicId,
        partition: partition.partition,
        fetchOffset,
        maxBytes: maxPartitionBytes,
        leaderEpoch: partition.currentLeaderEpoch,
      })
    }
    const [state, request] = stepSession(this.#session, { type: 'send', usesIds, partitions })
    this.#session = state
    return fetchRequest(request!, partitions.length === 0 ? { ...limits, maxWaitMs: 0 } : limits)
  }

  /** Returns the bytes of records that it brought. */
  #answered(response: FetchAnswer, asked: Asked, wasForRest: boolean): number {
    const { errorCode, sessionId } = response
    const wasOpen = this.#session.kind === 'asking'
    this.#session = stepSession(this.#session, { type: 'answer', errorCode, sessionId })[0]
    if (errorCode !== 0) {
      land(asked)
      const error = toKafkaError(errorCode, { what: 'fetch', broker: this.nodeId })
      // A session that the broker has dropped is opened anew at once; opening one is tried again with backoff like anything else.
      if (wasOpen && errorByCode(errorCode).reaction === 'resetSession') this.#attempts = 0
      else this.#failed(error)
      return 0
    }
    this.#attempts = 0
    let bytes = 0
    for (const topic of response.responses) {
      const nameOrId = asked.usesIds ? topic.topicId : topic.topic
      for (const answer of topic.partitions) {
        const entry = asked.partitions.get(requestKey(nameOrId, answer.partitionIndex))
        if (entry === undefined) continue
        const { partition, flight } = entry
        // Sought, revoked or moved to another broker since: the answer is for what was.
        if (partition.flight !== flight) continue
        partition.flight = undefined
        if (answer.records !== null && answer.records.length > 0 && this.partitions.delete(partition)) {
          bytes += answer.records.length
          this.partitions.add(partition)
        }
        this.#host.answered(partition, answer, response, this.nodeId)
      }
    }
    land(asked)
    if (wasForRest && bytes === 0) this.#restAt = this.#host.clock.now() + this.#host.config.maxWaitMs
    return bytes
  }

  #failed(error: KafkaError): void {
    const { cluster, clock } = this.#host
    const { retryBackoffMs: baseMs, retryBackoffMaxMs: maxMs } = cluster.config
    const delayMs = backoffMs({ baseMs, maxMs }, ++this.#attempts)
    this.#retryAt = clock.now() + delayMs
    this.#host.failed(this.nodeId, error, this.#attempts, delayMs)
  }
}

/** Whatever of it was not answered can be asked again. */
function land(asked: Asked): void {
  for (const { partition, flight } of asked.partitions.values())
    if (partition.flight === flight) partition.flight = undefined
}
