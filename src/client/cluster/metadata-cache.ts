// The current picture of the cluster and its renewal: one request at a time, about the topics in use only, when asked for,
// when old, and again soon while something is unsettled.
import { KafkaError } from '../../errors.js'
import type { Metadata } from '../../protocol/messages/metadata.js'
import type { ResponseOf } from '../../protocol/wire/index.js'
import { backoffMs, type Backoff } from '../../util/backoff.js'
import type { Clock, Timer } from '../../util/clock.js'
import type { Deadline } from '../../util/deadline.js'
import { Deferred } from '../../util/deferred.js'
import { emptySnapshot, hasTopicId, isUnsettled, mergeMetadata, withLeader } from './snapshot.js'
import type { ClusterSnapshot, LeaderHint } from './topic-metadata.js'

export interface MetadataCacheOptions {
  readonly clock: Clock
  readonly maxAgeMs: number
  readonly backoff: Backoff
  /** One attempt at the request. */
  readonly fetch: (topics: readonly string[]) => Promise<ResponseOf<typeof Metadata>>
  /** Repeats an attempt until it succeeds, or the client is closed. */
  readonly persist: (attempt: (deadline: Deadline) => Promise<void>) => Promise<void>
  /** After every answer, before the listeners of onChange(). */
  readonly onFetched: (snapshot: ClusterSnapshot) => void
}

/** One request that is wanted, and everyone who waits for it. */
interface Flight {
  /** undefined: all in use. */
  topics: Set<string> | undefined
  readonly done: Deferred<void>
}

export class MetadataCache {
  readonly #options: MetadataCacheOptions
  #snapshot = emptySnapshot
  #nameById = new Map<string, string>()
  readonly #inUse = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #next: Flight | undefined
  #isFlying = false
  #refresh: 'none' | 'running' | 'running, and wanted again' = 'none'
  #unsettledRounds = 0
  #lastFullAt = -Infinity
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: MetadataCacheOptions) {
    this.#options = options
  }

  get snapshot(): ClusterSnapshot {
    return this.#snapshot
  }

  get hasBeenFetched(): boolean {
    return this.#snapshot !== emptySnapshot
  }

  topicName(topicId: string): string | undefined {
    return this.#nameById.get(topicId)
  }

  use(topics: readonly string[]): void {
    for (const topic of topics) this.#inUse.add(topic)
  }

  forget(topic: string): void {
    this.#inUse.delete(topic)
    if (!this.#snapshot.topics.has(topic)) return
    const topics = new Map(this.#snapshot.topics)
    topics.delete(topic)
    this.#publish({ ...this.#snapshot, topics })
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  applyHint(topic: string, partition: number, hint: LeaderHint): boolean {
    const newer = withLeader(this.#snapshot, topic, partition, hint)
    if (newer) this.#publish(newer)
    return newer !== undefined
  }

  /** One attempt at an answer that was asked for after this call: about these topics, or all in use. Many calls make one request. */
  update(topics?: readonly string[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(closed())
    const flight = (this.#next ??= { topics: new Set(), done: new Deferred() })
    if (!topics) flight.topics = undefined
    else for (const topic of topics) flight.topics?.add(topic)
    if (!this.#isFlying) {
      this.#isFlying = true
      this.#fly().catch(surface)
    }
    return flight.done.promise
  }

  async #fly(): Promise<void> {
    await Promise.resolve() // those who ask in the same turn join
    for (let flight = this.#next; flight && !this.#isClosed; flight = this.#next) {
      this.#next = undefined
      flight.done.promise.catch(() => {}) // whoever waited may have gone
      try {
        const isFull = flight.topics === undefined
        const startedAt = this.#options.clock.now()
        const response = await this.#options.fetch([...(flight.topics ?? this.#inUse)])
        if (this.#isClosed) throw closed()
        if (isFull) this.#lastFullAt = startedAt
        const snapshot = mergeMetadata(this.#snapshot, response, { isFull })
        this.#options.onFetched(snapshot)
        this.#publish(snapshot)
        this.#schedule()
        flight.done.resolve()
      } catch (error) {
        flight.done.reject(error)
      }
    }
    this.#isFlying = false
  }

  /** Asks for all topics in use until there is an answer; a call while that runs has it done once more. */
  refresh(): void {
    if (this.#isClosed) return
    if (this.#refresh !== 'none') {
      this.#refresh = 'running, and wanted again'
      return
    }
    this.#refresh = 'running'
    this.#keepRefreshing().catch(surface)
  }

  async #keepRefreshing(): Promise<void> {
    const { clock, backoff, persist } = this.#options
    try {
      do {
        await persist(async (deadline) => {
          const pauseMs = this.#lastFullAt + backoff.baseMs - clock.now()
          if (pauseMs > 0) await deadline.sleep(pauseMs)
          this.#refresh = 'running'
          await this.update()
        })
      } while ((this.#refresh as string) === 'running, and wanted again')
    } catch {
      // persist() has told of it; the next refresh() or the timer begins anew.
      this.#schedule()
    } finally {
      this.#refresh = 'none'
    }
  }

  #publish(snapshot: ClusterSnapshot): void {
    this.#snapshot = snapshot
    const nameById = new Map<string, string>()
    for (const topic of snapshot.topics.values()) if (hasTopicId(topic)) nameById.set(topic.topicId, topic.name)
    this.#nameById = nameById
    for (const listener of [...this.#listeners]) listener()
  }

  #schedule(): void {
    if (this.#isClosed) return
    const { clock, backoff, maxAgeMs } = this.#options
    this.#unsettledRounds = isUnsettled(this.#snapshot) ? this.#unsettledRounds + 1 : 0
    const soonMs = this.#unsettledRounds > 0 ? backoffMs(backoff, this.#unsettledRounds) : maxAgeMs
    this.#timer?.cancel()
    this.#timer = clock.setTimer(Math.min(soonMs, maxAgeMs), () => this.refresh())
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#listeners.clear()
    this.#next?.done.promise.catch(() => {})
    this.#next?.done.reject(closed())
    this.#next = undefined
  }
}

function closed(): KafkaError {
  return new KafkaError('the client was closed', { code: 'CLOSED' })
}

/** Of what handles its own failures: anything else is a defect, and an uncaught exception. */
function surface(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
