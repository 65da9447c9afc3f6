// The public GroupMember: reads topics together with the other members of its group. Validates, delegates and closes; who reads what is
// the membership's, records are the feed's, and what is done is kept by progress and commits.
import type { KafkaError } from '../../errors.js'
import { UsageError } from '../../errors.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'
import type { Deadline } from '../../util/deadline.js'
import type { WaitOptions } from '../../util/deadline.js'
import { Deferred } from '../../util/deferred.js'
import type { Events } from '../../util/events.js'
import { Cluster } from '../cluster/index.js'
import { policyOf } from '../consumer/consumer-options.js'
import { ConsumerBatch, type AnyRecord } from '../consumer/consumer-record.js'
import { batchesConfig, batchSource, recordSource, type BatchesOptions } from '../consumer/consumer-sources.js'
import { lagOf, type PartitionLag } from '../consumer/lag.js'
import { OffsetLookup } from '../consumer/offset-lookup.js'
import { isStartPosition, startPositionText, type StartPosition } from '../consumer/positions.js'
import { RecordFeed } from '../consumer/record-feed.js'
import { recordSerdes, type ConsumerRecordOf } from '../consumer/record-serdes.js'
import { topicName, type TopicLike } from '../serde/index.js'
import { Assignments } from './assignments.js'
import { ClassicMembership } from './classic-membership.js'
import { CommittedOffsets, type CommittedOffset } from './committed-offsets.js'
import { Commits } from './commits.js'
import type { GroupMemberEvents, MemberState } from './events.js'
import { GroupRequests } from './group-requests.js'
import type { ClassicState } from './membership/classic.js'
import { groupMemberConfig, type GroupMemberConfig, type GroupMemberOptions } from './options.js'
import { ProcessingWatch } from './processing-watch.js'
import { Progress } from './progress.js'
import { Reading } from './reading.js'

/** How long close() waits for the last commit and the coordinator's answer, unless told otherwise. */
const CLOSE_TIMEOUT_MS = 10_000

/** A commit that nobody waits for gives up after so long; the next one tries again. */
const COMMIT_TIMEOUT_MS = 30_000

export interface CommitOptions extends WaitOptions {
  /** A text that is stored with every offset of this commit. @default '' */
  readonly metadata?: string | undefined
}

/**
 * Reads topics together with the other members of its group: each partition is one member's at a time. `for await` over the member gives
 * records; asking for the next one marks the one before as done, and what is done is committed. After a crash the rest comes again.
 *
 * One iteration at a time. After `break`, or an error in the body, a later iteration begins with the record last given out, unless
 * `record.done()` or `commit(record)` was called for it.
 *
 * @example
 * await using member = new GroupMember({ brokers: ['localhost:9092'], group: 'billing', topics: ['orders'], from: 'beginning' })
 * for await (const record of member) await charge(record.value)
 */
export class GroupMember<const T extends TopicLike = string> implements AsyncIterable<ConsumerRecordOf<T>> {
  readonly #config: GroupMemberConfig
  readonly #cluster: Cluster
  readonly #events: Events<GroupMemberEvents>
  readonly #lookup: OffsetLookup
  readonly #feed: RecordFeed
  readonly #progress: Progress
  readonly #watch: ProcessingWatch
  readonly #reading: Reading
  readonly #commits: Commits
  readonly #assignments: Assignments
  readonly #membership: ClassicMembership
  #starting: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Why the member cannot go on; thrown by whatever is asked of it. */
  #failure: KafkaError | undefined
  /** To be thrown to the reader once. */
  #complaint: KafkaError | undefined
  #change = new Deferred<void>()
  #unlisten: (() => void) | undefined

  /** @throws {UsageError} INVALID_OPTION, naming the option */
  constructor(options: GroupMemberOptions<T>) {
    const config = groupMemberConfig(options)
    const topics = new Map(config.topics.map((topic) => [topicName(topic), topic]))
    const cluster = new Cluster(config, 'GroupMember')
    this.#config = config
    this.#cluster = cluster
    this.#events = cluster.events as unknown as Events<GroupMemberEvents> // one emitter for both kinds of event
    this.#lookup = new OffsetLookup(cluster, config.isolation)
    this.#feed = new RecordFeed({
      cluster,
      config,
      outOfRange: policyOf(config.outOfRange, config.from),
      lookup: this.#lookup,
      serdesOf: (topic) => recordSerdes(topics.get(topic)),
      onDone: (source, offset) => this.#progress.done(source, offset),
      onReset: (event) => {
        this.#commits.moved(event)
        this.#events.emit('reset', event)
      },
    })
    this.#progress = new Progress(this.#feed)
    this.#watch = new ProcessingWatch(
      cluster.clock,
      config.maxProcessingMs,
      () => this.#progress.isHandling,
      () => this.#stalled(),
    )
    this.#reading = new Reading({
      cluster,
      feed: this.#feed,
      progress: this.#progress,
      watch: this.#watch,
      begin: async () => this.#start(),
      asked: () => this.#asked(),
      isClosed: () => this.#closing !== undefined,
    })
    const requests = new GroupRequests(cluster, { ...config, rebalanceTimeoutMs: config.maxProcessingMs })
    const offsets = new CommittedOffsets(cluster, config.group, requests)
    this.#commits = new Commits(cluster.clock, offsets, this.#progress, this.#commitsHost(), COMMIT_TIMEOUT_MS)
    this.#assignments = new Assignments({
      cluster,
      feed: this.#feed,
      progress: this.#progress,
      offsets,
      commits: this.#commits,
      events: this.#events,
      from: config.from,
      requireStable: config.isolation === 'read_committed',
      commitsByItself: config.commit !== 'manual',
      limitMs: config.maxProcessingMs,
      isHurried: () => isLeaving(this.#membership.state),
      onFailure: (error) => this.#fail(error),
      onListenerFailed: (error) => this.#complain(error),
      onChange: () => this.#changed(),
    })
    this.#membership = new ClassicMembership(
      cluster,
      requests,
      {
        topics: [...topics.keys()],
        assign: (added) => this.#assignments.assign(added),
        giveUp: (partitions, parting) => this.#assignments.giveUp(partitions, parting),
        moved: (from, to) => this.#moved(from, to),
        retrying: (error) => cluster.logger.warn(error.message),
      },
      { ...config, leaveTimeoutMs: CLOSE_TIMEOUT_MS, isStatic: config.instanceId !== undefined },
    )
  }

  // ---- life

  /** Reaches the cluster and begins to join the group; ready() and reading do it otherwise. */
  async connect(options: WaitOptions = {}): Promise<void> {
    await this.#deadline(options).race(this.#start(), 'GroupMember: connect')
  }

  /** Resolves when the member has joined, has its assignment (which may be empty) and knows where to start in each partition. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#joined('ready', this.#deadline(options), () => this.#assignments.isSettled)
  }

  /** What the member is doing. */
  get state(): MemberState {
    return this.#membership.state.name
  }

  /** The partitions that are this member's now. */
  partitions(): TopicPartition[] {
    return this.#assignments.all
  }

  /**
   * Commits what is done, leaves the group at once and closes the connections; a waiting iteration ends. A record that the handler still
   * has is not done; listeners are waited for, but not longer than half of the time. Idempotent.
   * @throws {KafkaError} TIMEOUT when the coordinator could not be told in time (10 s unless said otherwise); everything is closed nevertheless
   */
  async close(options: WaitOptions = {}): Promise<void> {
    const deadline = this.#cluster.deadline(options.timeoutMs ?? CLOSE_TIMEOUT_MS, options.signal)
    await (this.#closing ??= this.#close(deadline))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Calls the listener at each event: see {@link GroupMemberEvents}. Those of `assigned`, `revoked` and `lost` may return a promise, which is awaited. */
  on<Name extends keyof GroupMemberEvents>(name: Name, listener: (event: GroupMemberEvents[Name]) => unknown): this {
    this.#events.on(name, listener)
    return this
  }

  once<Name extends keyof GroupMemberEvents>(name: Name, listener: (event: GroupMemberEvents[Name]) => unknown): this {
    this.#events.once(name, listener)
    return this
  }

  off<Name extends keyof GroupMemberEvents>(name: Name, listener: (event: GroupMemberEvents[Name]) => unknown): this {
    this.#events.off(name, listener)
    return this
  }

  // ---- reading

  /** Record by record; ends on close, or with ABORTED by its signal. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ConsumerRecordOf<T>, undefined, undefined> {
    return this.records()
  }

  /** The same with a signal. */
  records(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncIterableIterator<ConsumerRecordOf<T>, undefined, undefined> {
    const source = recordSource<ConsumerRecordOf<T>>(this.#feed)
    return this.#reading.iterate(source, (record: AnyRecord) => this.#progress.gaveRecord(record), options.signal)
  }

  /** Up to so many records of one partition at a time; asking for the next batch marks the one before as done. */
  batches(
    options: BatchesOptions = {},
  ): AsyncIterableIterator<ConsumerBatch<ConsumerRecordOf<T>>, undefined, undefined> {
    const config = batchesConfig('GroupMember.batches', options)
    const source = batchSource<ConsumerRecordOf<T>>(this.#feed, this.#cluster.clock, config)
    return this.#reading.iterate(
      source,
      (batch: ConsumerBatch<AnyRecord>) => this.#progress.gaveBatch(batch),
      config.signal,
    )
  }

  // ---- positions

  /** The offset of the next record of the partition; undefined while it is not known, or when the partition is another's. */
  position(partition: TopicPartition): number | undefined {
    return this.#progress.positionOf(partition)
  }

  /**
   * Goes on elsewhere in one partition, at once.
   * @throws {UsageError} NOT_ASSIGNED for a partition that is not this member's
   */
  seek(partition: TopicPartition, to: StartPosition): void {
    checkPosition('seek', to)
    this.#checkAlive()
    this.#assignments.seek(partition, to)
  }

  /** Goes on elsewhere in all of this member's partitions; resolves when the new positions are known. */
  async rewind(to: StartPosition, options: WaitOptions = {}): Promise<void> {
    checkPosition('rewind', to)
    const deadline = this.#deadline(options)
    await this.#located('rewind', deadline)
    for (const partition of this.#assignments.all) this.#assignments.seek(partition, to)
    await this.#feed.positioned(deadline)
  }

  /** Gives out nothing more of these partitions (all, unless named) until resume(); what is fetched already is kept. */
  pause(partitions?: readonly TopicPartition[]): void {
    this.#checkAlive()
    this.#assignments.pause(partitions ?? this.#assignments.all)
  }

  /** Ends pause() of these partitions (all, unless named). */
  resume(partitions?: readonly TopicPartition[]): void {
    this.#checkAlive()
    this.#assignments.resume(partitions ?? this.#assignments.all)
  }

  /** How far this member's positions are from the ends of their partitions, asked of the brokers now. */
  async lag(options: WaitOptions = {}): Promise<PartitionLag[]> {
    const deadline = this.#deadline(options)
    await this.#located('lag', deadline)
    return lagOf(this.#feed, this.#lookup, deadline)
  }

  // ---- commits

  /** Commits everything that is done so far: what was given out, but for the record or batch the handler has now. */
  commit(options?: CommitOptions): Promise<void>
  /**
   * Marks this record (or batch), and all before it of its partition, as done, and commits just that, unless the partition's commits
   * are further already.
   * @throws {UsageError} NOT_ASSIGNED when its partition is not this member's any more, or was sought elsewhere since
   */
  commit(done: AnyRecord | ConsumerBatch<AnyRecord>, options?: CommitOptions): Promise<void>
  async commit(given?: AnyRecord | ConsumerBatch<AnyRecord> | CommitOptions, more: CommitOptions = {}): Promise<void> {
    const record = given instanceof ConsumerBatch ? given.records.at(-1) : isRecord(given) ? given : undefined
    const options = record === undefined ? ((given as CommitOptions | undefined) ?? {}) : more
    const deadline = this.#deadline(options)
    this.#checkAlive()
    if (record === undefined) {
      await this.#commits.commitDone(this.#assignments.committable, deadline, options.metadata)
    } else {
      const { topic, partition, offset, leaderEpoch, source } = record
      const behind = { topic, partition, offset: offset + 1, leaderEpoch, metadata: options.metadata ?? '' }
      const ifOwned = () => {
        if (this.#feed.owns(source)) return behind
        const message = `commit: ${topic}-${partition} is not this member's any more, or was sought elsewhere since offset ${offset} was given out`
        throw new UsageError(message, 'NOT_ASSIGNED')
      }
      ifOwned()
      this.#progress.done(source, offset)
      await this.#commits.commitOffset(ifOwned, deadline)
    }
  }

  // ---- inside

  #start(): Promise<void> {
    this.#checkAlive()
    if (this.#starting) return this.#starting
    const starting = (this.#starting = this.#begin())
    starting.catch((error: unknown) => this.#fail(error as KafkaError))
    return starting
  }

  async #begin(): Promise<void> {
    const deadline = this.#cluster.deadline() // ends with the cluster: what hinders it until then is told by events
    const names = this.#config.topics.map((topic) => topicName(topic))
    const topics = await this.#cluster.topics(names, deadline, { missing: 'report' })
    for (const { name, error, partitions } of topics.values()) {
      if (error && !error.retriable) throw error
      if (!error || error.code === 'UNKNOWN_TOPIC_OR_PARTITION') this.#assignments.knowsCount(name, partitions.length)
    }
    if (this.#closing) return
    this.#unlisten = this.#cluster.onMetadata(() => this.#membership.metadataChanged())
    if (this.#config.commit !== 'manual') this.#commits.startInterval(this.#config.commit.intervalMs)
    this.#watch.start()
    this.#membership.happened({ type: 'start' })
  }

  /** What a listener of 'assigned' may wait for as well, since it is itself what ready() waits for. */
  #located(what: string, deadline: Deadline): Promise<void> {
    return this.#joined(what, deadline, () => this.#assignments.isLocated)
  }

  async #joined(what: string, deadline: Deadline, isThere: () => boolean): Promise<void> {
    await deadline.race(this.#start(), `GroupMember: ${what}`)
    while (!(this.#membership.state.name === 'stable' && isThere())) {
      this.#checkAlive()
      await deadline.race(this.#change.promise, `GroupMember: ${what}`)
    }
    await this.#feed.positioned(deadline)
  }

  async #close(deadline: Deadline): Promise<void> {
    // A listener may be slow, or itself be waiting for close(): half of the time is left for the last commit and the coordinator.
    const hurry = this.#cluster.clock.setTimer(deadline.remainingMs() / 2, () => this.#assignments.hurry())
    this.#feed.wake()
    try {
      if (this.#starting) {
        this.#membership.happened({ type: 'close' })
        while (this.#membership.state.name !== 'closed') {
          await deadline.race(this.#change.promise, 'GroupMember: close')
        }
      }
    } finally {
      hurry.cancel()
      this.#assignments.hurry()
      this.#unlisten?.()
      this.#watch.stop()
      this.#commits.stop()
      this.#membership.stop()
      this.#feed.close()
      await this.#cluster.close()
      this.#changed()
    }
  }

  #moved(from: ClassicState, to: ClassicState): void {
    if (isLeaving(to)) this.#progress.stopWaiting()
    if (to.name === 'failed') this.#fail(to.error)
    if (from.name !== to.name) this.#events.emit('state', { from: from.name, to: to.name })
    this.#changed()
  }

  #stalled(): void {
    this.#events.emit('stalled', { maxProcessingMs: this.#config.maxProcessingMs })
    this.#membership.happened({ type: 'stalled' })
  }

  #fail(error: KafkaError): void {
    if (this.#closing) return
    this.#failure ??= error
    this.#feed.wake()
    this.#changed()
  }

  #complain(error: KafkaError): void {
    if (this.#closing) return
    this.#complaint ??= error
    this.#feed.wake()
  }

  #changed(): void {
    const change = this.#change
    this.#change = new Deferred()
    change.resolve()
  }

  #checkAlive(): void {
    if (this.#closing) throw closedError()
    if (this.#failure) throw this.#failure
  }

  #deadline({ timeoutMs, signal }: WaitOptions): Deadline {
    return this.#cluster.deadline(timeoutMs ?? Infinity, signal)
  }

  #asked(): void {
    const failure = this.#failure ?? this.#complaint
    if (failure) {
      this.#complaint = undefined
      throw failure
    }
    if (this.#membership.state.name === 'dormant') this.#membership.happened({ type: 'resumed' })
  }

  #commitsHost(): ConstructorParameters<typeof Commits>[3] {
    const standing = () => this.#membership.standing
    const committable = () => this.#assignments.committable
    return {
      get standing() {
        return standing()
      },
      get committable() {
        return committable()
      },
      owns: (partition) => this.#assignments.owns(partition),
      refused: (error, asWhom) => this.#membership.refused(error, asWhom),
      moved: (deadline) => deadline.race(this.#change.promise, 'a commit during a rebalance'),
      committed: (offsets: readonly CommittedOffset[]) => this.#events.emit('committed', { offsets }),
      commitFailed: (error) => {
        this.#events.emit('commitFailed', { error })
        this.#cluster.logger.warn(error.message)
      },
    }
  }
}

/** On the way out of the group: a handler is not waited for any more. */
function isLeaving({ name }: ClassicState): boolean {
  return name === 'closing' || name === 'leaving' || name === 'dormant' || name === 'failed' || name === 'closed'
}

function isRecord(given: unknown): given is AnyRecord {
  return typeof given === 'object' && given !== null && 'source' in given && 'offset' in given
}

function checkPosition(what: string, position: unknown): void {
  if (!isStartPosition(position)) throw new UsageError(`GroupMember: ${what} takes ${startPositionText}`)
}

function closedError(): UsageError {
  return new UsageError('GroupMember: it is closed', 'CLOSED')
}
