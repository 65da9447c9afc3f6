// The partitions that are this member's, from the moment they are assigned until they are given up: finds where to start, tells the user,
// lets records flow, and takes everything back in order. Assigning and giving up happen one after the other.
import { asKafkaError, KafkaError, UsageError } from '../../errors.js'
import { partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import { Deadline } from '../../util/deadline.js'
import type { Events } from '../../util/events.js'
import type { Cluster } from '../cluster/index.js'
import type { StartPosition } from '../consumer/positions.js'
import type { AssignedPartition, RecordFeed } from '../consumer/record-feed.js'
import type { CommittedOffset, CommittedOffsets } from './committed-offsets.js'
import type { Commits } from './commits.js'
import type { GroupMemberEvents } from './events.js'
import type { Parting } from './membership/membership.js'
import type { Progress } from './progress.js'

interface Owned extends TopicPartition {
  /** locating: where to start is asked for; announcing: listeners of 'assigned' run; reading: records flow. */
  phase: 'locating' | 'announcing' | 'reading'
  /** By the user; kept from before the feed has the partition. */
  isPaused: boolean
  /** Sought while its start was looked up: this wins. */
  sought: StartPosition | undefined
}

export interface AssignmentsParts {
  readonly cluster: Cluster
  readonly feed: RecordFeed
  readonly progress: Progress
  readonly offsets: CommittedOffsets
  readonly commits: Commits
  readonly events: Events<GroupMemberEvents>
  readonly from: StartPosition
  readonly requireStable: boolean
  readonly commitsByItself: boolean
  /** How long a listener or a last commit is waited for. */
  readonly limitMs: number
  /** Waiting for the handler is of no use any more: the member closes, or was out of the group too long. */
  readonly isHurried: () => boolean
  /** Where to start cannot be found out: the member cannot go on. */
  readonly onFailure: (error: KafkaError) => void
  readonly onListenerFailed: (error: KafkaError) => void
  readonly onChange: () => void
}

export class Assignments {
  readonly #parts: AssignmentsParts
  readonly #owned = new Map<string, Owned>()
  /** Being given up: read no more, but still this member's to commit. */
  readonly #leaving = new Set<TopicPartition>()
  /** Partitions of a topic when the member began; what is added later starts at its beginning. */
  readonly #initialCounts = new Map<string, number>()
  #turn: Promise<void> = Promise.resolve()
  #locating = new AbortController()
  readonly #patience = new AbortController()

  constructor(parts: AssignmentsParts) {
    this.#parts = parts
  }

  get all(): TopicPartition[] {
    return [...this.#owned.values()].map(({ topic, partition }) => ({ topic, partition }))
  }

  /** Those that this member may commit: its own, and what it is just giving up. */
  get committable(): TopicPartition[] {
    return [...this.#owned.values(), ...this.#leaving]
  }

  /** Where to start is known for all; listeners of 'assigned' may still run. */
  get isLocated(): boolean {
    for (const { phase } of this.#owned.values()) if (phase === 'locating') return false
    return true
  }

  /** Records may flow in all. */
  get isSettled(): boolean {
    for (const { phase } of this.#owned.values()) if (phase !== 'reading') return false
    return true
  }

  owns(partition: TopicPartition): boolean {
    return this.#owned.has(partitionKey(partition))
  }

  /** How many partitions a topic has as the member begins. */
  knowsCount(topic: string, count: number): void {
    if (!this.#initialCounts.has(topic)) this.#initialCounts.set(topic, count)
  }

  /** Listeners are waited for no longer. */
  hurry(): void {
    this.#patience.abort()
  }

  // ---- what the membership asks for

  assign(added: readonly TopicPartition[]): void {
    for (const { topic, partition } of added) {
      const owned: Owned = { topic, partition, phase: 'locating', isPaused: false, sought: undefined }
      this.#owned.set(partitionKey(owned), owned)
    }
    this.#next(() => this.#begin())
  }

  giveUp(partitions: readonly TopicPartition[], parting: Parting): Promise<void> {
    const { feed, progress } = this.#parts
    const known = partitions.flatMap((one) => this.#owned.get(partitionKey(one)) ?? [])
    for (const one of known) this.#owned.delete(partitionKey(one))
    // What was never announced is dropped without a word; if others are being located with it, they are asked for again.
    if (known.some(({ phase }) => phase === 'locating')) this.#locating.abort()
    const announced = known.filter(({ phase }) => phase !== 'locating')
    if (parting === 'lost') {
      progress.dropped(announced)
      feed.revoke(announced)
    } else {
      feed.pause(announced)
      for (const one of announced) this.#leaving.add(one)
    }
    this.#next(() => (parting === 'lost' ? this.#tell('lost', announced) : this.#revoke(announced)))
    return this.#turn
  }

  #next(work: () => Promise<void>): void {
    this.#turn = this.#turn
      .then(work)
      .catch((error: unknown) => this.#parts.onFailure(asKafkaError(error, 'an assignment')))
  }

  async #begin(): Promise<void> {
    for (;;) {
      const open = [...this.#owned.values()].filter(({ phase }) => phase === 'locating')
      if (open.length === 0) return
      const { signal } = (this.#locating = new AbortController())
      try {
        await this.#locate(open, new Deadline(this.#parts.cluster.clock, Infinity, signal))
      } catch (error) {
        if (signal.aborted) continue
        throw error
      }
      this.#parts.onChange()
      const placed = open.filter((one) => this.#isStill(one))
      await this.#tell('assigned', placed)
      for (const one of placed) {
        if (!this.#isStill(one)) continue
        one.phase = 'reading'
        if (!one.isPaused) this.#parts.feed.resume([one])
      }
      this.#parts.onChange()
    }
  }

  async #locate(open: readonly Owned[], deadline: Deadline): Promise<void> {
    const { cluster, feed, offsets, commits, requireStable } = this.#parts
    const committed = await offsets.fetch(open, requireStable, deadline)
    await cluster.topics([...new Set(open.map(({ topic }) => topic))], deadline, { missing: 'report' })
    deadline.check('an assignment')
    const starts = open.map((one): AssignedPartition => {
      const known = committed.get(partitionKey(one))
      commits.assigned(one, known?.offset)
      one.phase = 'announcing'
      const { topic, partition } = one
      return { topic, partition, isPaused: true, ...this.#startOf(one, known) }
    })
    feed.assign(starts)
  }

  #startOf(one: Owned, committed: CommittedOffset | undefined): { start: StartPosition; leaderEpoch: number } {
    if (one.sought !== undefined) return { start: one.sought, leaderEpoch: -1 }
    if (committed) return { start: committed.offset, leaderEpoch: committed.leaderEpoch }
    const isNew = one.partition >= (this.#initialCounts.get(one.topic) ?? Infinity)
    return { start: isNew ? 'beginning' : this.#parts.from, leaderEpoch: -1 }
  }

  async #revoke(partitions: readonly Owned[]): Promise<void> {
    const { feed, progress, commits, commitsByItself, cluster, limitMs } = this.#parts
    if (partitions.length === 0) return
    if (!this.#parts.isHurried()) await progress.drained(partitions)
    await this.#tell('revoked', partitions)
    if (commitsByItself) {
      await commits.commitLast(partitions, new Deadline(cluster.clock, limitMs))
    }
    progress.dropped(partitions)
    feed.revoke(partitions)
    for (const one of partitions) this.#leaving.delete(one)
  }

  /** A listener that fails or does not come back holds nothing up; the user hears of it. */
  async #tell(what: 'assigned' | 'revoked' | 'lost', partitions: readonly Owned[]): Promise<void> {
    if (partitions.length === 0) return
    const { events, cluster, limitMs } = this.#parts
    const event = { partitions: partitions.map(({ topic, partition }) => ({ topic, partition })) }
    try {
      const limit = new Deadline(cluster.clock, limitMs, this.#patience.signal)
      await limit.race(events.emitAndWait(what, event), `a listener of '${what}'`)
    } catch (cause) {
      const message = `a listener of '${what}' failed: ${cause instanceof Error ? cause.message : String(cause)}`
      this.#parts.onListenerFailed(new KafkaError(message, { code: 'LISTENER_FAILED', cause }))
    }
  }

  #isStill(one: Owned): boolean {
    return this.#owned.get(partitionKey(one)) === one
  }

  // ---- what the user asks for

  seek(partition: TopicPartition, to: StartPosition): void {
    const owned = this.#get(partition, 'seek')
    if (owned.phase === 'locating') {
      owned.sought = to
      return
    }
    this.#parts.progress.dropped([owned])
    this.#parts.commits.moved(owned)
    this.#parts.feed.seek(owned, to)
  }

  pause(partitions: readonly TopicPartition[]): void {
    for (const owned of partitions.map((one) => this.#get(one, 'pause'))) {
      owned.isPaused = true
      if (owned.phase === 'reading') this.#parts.feed.pause([owned])
    }
  }

  resume(partitions: readonly TopicPartition[]): void {
    for (const owned of partitions.map((one) => this.#get(one, 'resume'))) {
      owned.isPaused = false
      if (owned.phase === 'reading') this.#parts.feed.resume([owned])
    }
  }

  #get(partition: TopicPartition, what: string): Owned {
    const owned = this.#owned.get(partitionKey(partition))
    if (owned) return owned
    const mine = [...this.#owned.keys()].join(', ') || 'no partitions'
    throw new UsageError(`${what}: ${partitionKey(partition)} is not this member's; it has ${mine}`, 'NOT_ASSIGNED')
  }
}
