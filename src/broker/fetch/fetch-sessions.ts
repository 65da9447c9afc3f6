// Fetch sessions of one broker (KIP-227): which partitions each asks for, and what it was last told. The cache is bounded; a
// session that finds no room is not an error, the client then goes on with full fetches.
import { randomInt } from 'node:crypto'
import { errorCodes } from '../../protocol/messages/error-table.js'
import type { Fetch } from '../../protocol/messages/fetch.js'
import { zeroUuid, type RequestOf } from '../../protocol/wire/index.js'
import type { PartitionFetch, PartitionRead } from './partition-read.js'

type FetchRequest = RequestOf<typeof Fetch>

export const noSession = 0
const initialEpoch = 0
const finalEpoch = -1
const maxEpoch = 2 ** 31 - 1
/** A session used less than this ago is not given up for another. */
const evictionMs = 120_000

interface Told {
  readonly fetch: PartitionFetch
  highWatermark: number
  logStartOffset: number
}

interface Session {
  readonly id: number
  readonly usesTopicIds: boolean
  readonly createdAt: number
  usedAt: number
  epoch: number
  readonly partitions: Map<string, Told>
}

export interface FetchPlan {
  /** Of the request as a whole; then there is nothing to read. */
  readonly errorCode: number
  readonly fetches: readonly PartitionFetch[]
  /** Which of the reads are told to the client, and in which session. */
  readonly tell: (reads: readonly PartitionRead[]) => {
    readonly sessionId: number
    readonly reads: readonly PartitionRead[]
  }
}

export class FetchSessions {
  /** In the order of their last use. */
  readonly #sessions = new Map<number, Session>()
  readonly #now: () => number
  readonly #slots: () => number

  constructor(now: () => number, slots: () => number) {
    this.#now = now
    this.#slots = slots
  }

  get size(): number {
    return this.#sessions.size
  }

  clear(): void {
    this.#sessions.clear()
  }

  /** What the request reads, without any effect on its session. */
  peek(request: FetchRequest): PartitionFetch[] {
    const session = isFull(request) ? undefined : this.#sessions.get(request.sessionId)
    const partitions = new Map(session && [...session.partitions].map(([key, { fetch }]) => [key, fetch]))
    for (const key of forgottenIn(request)) partitions.delete(key)
    for (const fetch of fetchesOf(request)) partitions.set(keyOf(fetch), fetch)
    return [...partitions.values()]
  }

  plan(request: FetchRequest, version: number): FetchPlan {
    if (!isFull(request)) return this.#incremental(request, version)
    if (request.sessionId !== noSession) this.#sessions.delete(request.sessionId)
    const fetches = fetchesOf(request)
    const isSessionless = request.sessionEpoch === finalEpoch
    return {
      errorCode: errorCodes.NONE,
      fetches,
      tell: (reads) => ({ sessionId: isSessionless ? noSession : this.#create(reads, version >= 13), reads }),
    }
  }

  #incremental(request: FetchRequest, version: number): FetchPlan {
    const session = this.#sessions.get(request.sessionId)
    if (!session) return failed(errorCodes.FETCH_SESSION_ID_NOT_FOUND)
    if (session.epoch !== request.sessionEpoch) return failed(errorCodes.INVALID_FETCH_SESSION_EPOCH)
    if (session.usesTopicIds !== version >= 13) return failed(errorCodes.FETCH_SESSION_TOPIC_ID_ERROR)
    for (const fetch of fetchesOf(request)) {
      const key = keyOf(fetch)
      const known = session.partitions.get(key)
      if (known) Object.assign(known.fetch, fetch)
      else session.partitions.set(key, { fetch, highWatermark: -1, logStartOffset: -1 })
    }
    for (const key of forgottenIn(request)) session.partitions.delete(key)
    this.#sessions.delete(session.id)
    if (session.partitions.size === 0) {
      return { errorCode: errorCodes.NONE, fetches: [], tell: (reads) => ({ sessionId: noSession, reads }) }
    }
    this.#sessions.set(session.id, session)
    session.usedAt = this.#now()
    session.epoch = session.epoch === maxEpoch ? 1 : session.epoch + 1
    return {
      errorCode: errorCodes.NONE,
      fetches: [...session.partitions.values()].map(({ fetch }) => fetch),
      tell: (reads) => ({ sessionId: session.id, reads: news(session, reads) }),
    }
  }

  /** The id of a new session, or none when there is no room. */
  #create(reads: readonly PartitionRead[], usesTopicIds: boolean): number {
    if (reads.length === 0 || (this.#sessions.size >= this.#slots() && !this.#evictFor(reads.length))) return noSession
    let id: number
    do id = randomInt(1, maxEpoch)
    while (this.#sessions.has(id))
    const now = this.#now()
    const partitions = new Map<string, Told>()
    for (const { fetch, highWatermark, logStartOffset } of reads) {
      partitions.set(keyOf(fetch), { fetch, highWatermark, logStartOffset })
    }
    this.#sessions.set(id, { id, usesTopicIds, createdAt: now, usedAt: now, epoch: initialEpoch + 1, partitions })
    return id
  }

  /** Gives up the session that was unused for long, or else an old one of fewer partitions. */
  #evictFor(partitions: number): boolean {
    const now = this.#now()
    const [oldest] = this.#sessions.values()
    if (!oldest) return false
    let victim: Session | undefined = now - oldest.usedAt > evictionMs ? oldest : undefined
    if (!victim) {
      for (const session of this.#sessions.values()) {
        const isOld = now - session.createdAt > evictionMs
        if (isOld && session.partitions.size < (victim?.partitions.size ?? partitions)) victim = session
      }
    }
    return victim !== undefined && this.#sessions.delete(victim.id)
  }
}

/** The reads that say something new. Those with records go to the end of the line, so that no partition starves another (B04). */
function news(session: Session, reads: readonly PartitionRead[]): readonly PartitionRead[] {
  return reads.filter((read) => {
    const key = keyOf(read.fetch)
    const told = session.partitions.get(key)
    if (!told) return true
    const isNews =
      read.bytes > 0 ||
      read.errorCode !== errorCodes.NONE ||
      read.divergingEpoch !== undefined ||
      read.highWatermark !== told.highWatermark ||
      read.logStartOffset !== told.logStartOffset
    told.highWatermark = read.highWatermark
    told.logStartOffset = read.logStartOffset
    if (read.bytes > 0) {
      session.partitions.delete(key)
      session.partitions.set(key, told)
    }
    return isNews
  })
}

function failed(errorCode: number): FetchPlan {
  return { errorCode, fetches: [], tell: (reads) => ({ sessionId: noSession, reads }) }
}

function isFull({ sessionEpoch }: FetchRequest): boolean {
  return sessionEpoch === initialEpoch || sessionEpoch === finalEpoch
}

function fetchesOf(request: FetchRequest): PartitionFetch[] {
  const fetches: PartitionFetch[] = []
  for (const { topic, topicId, partitions } of request.topics) {
    for (const { partition, fetchOffset, partitionMaxBytes, currentLeaderEpoch, lastFetchedEpoch } of partitions) {
      fetches.push({
        topic,
        topicId,
        partition,
        fetchOffset,
        maxBytes: partitionMaxBytes,
        currentLeaderEpoch,
        lastFetchedEpoch,
      })
    }
  }
  return fetches
}

function forgottenIn(request: FetchRequest): string[] {
  return request.forgottenTopicsData.flatMap(({ topic, topicId, partitions }) =>
    partitions.map((partition) => keyOf({ topic, topicId, partition })),
  )
}

function keyOf({ topic, topicId, partition }: Pick<PartitionFetch, 'topic' | 'topicId' | 'partition'>): string {
  return topicId === zeroUuid ? `${topic}/${partition}` : `${topicId}/${partition}`
}
