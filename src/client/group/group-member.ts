// The public GroupMember: reads topics together with the other members of its group. Validates and delegates; what it is made of, and its
// life, is the session's.
import { UsageError } from '../../errors.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import { ConsumerBatch, type AnyRecord } from '../consumer/consumer-record.js'
import { batchesConfig, batchSource, recordSource, type BatchesOptions } from '../consumer/consumer-sources.js'
import { lagOf, type PartitionLag } from '../consumer/lag.js'
import { isStartPosition, startPositionText, type StartPosition } from '../consumer/positions.js'
import type { ConsumerRecordOf } from '../consumer/record-serdes.js'
import type { TopicLike } from '../serde/index.js'
import type { GroupMemberEvents, MemberState } from './events.js'
import { CLOSE_TIMEOUT_MS, GroupSession } from './group-session.js'
import { groupMemberConfig, type GroupMemberOptions } from './options.js'

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
  readonly #session: GroupSession
  #closing: Promise<void> | undefined

  /** @throws {UsageError} INVALID_OPTION, naming the option */
  constructor(options: GroupMemberOptions<T>) {
    this.#session = new GroupSession(groupMemberConfig(options))
  }

  // ---- life

  /** Reaches the cluster and begins to join the group; ready() and reading do it otherwise. */
  async connect(options: WaitOptions = {}): Promise<void> {
    await this.#deadline(options).race(this.#session.start(), 'GroupMember: connect')
  }

  /** Resolves when the member has joined, has its assignment (which may be empty) and knows where to start in each partition. */
  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#session.ready(this.#deadline(options))
  }

  /** What the member is doing. */
  get state(): MemberState {
    return this.#session.membership.state.name
  }

  /** The partitions that are this member's now. */
  partitions(): TopicPartition[] {
    return this.#session.assignments.all
  }

  /**
   * Commits what is done, leaves the group at once and closes the connections; a waiting iteration ends. A record that the handler still
   * has is not done; listeners are waited for, but not longer than half of the time. Idempotent.
   * @throws {KafkaError} TIMEOUT when the coordinator could not be told in time (10 s unless said otherwise); everything is closed nevertheless
   */
  async close(options: WaitOptions = {}): Promise<void> {
    const deadline = this.#session.cluster.deadline(options.timeoutMs ?? CLOSE_TIMEOUT_MS, options.signal)
    await (this.#closing ??= this.#session.close(deadline))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Calls the listener at each event: see {@link GroupMemberEvents}. Those of `assigned`, `revoked` and `lost` may return a promise, which is awaited. */
  on<Name extends keyof GroupMemberEvents>(name: Name, listener: (event: GroupMemberEvents[Name]) => unknown): this {
    this.#session.events.on(name, listener)
    return this
  }

  once<Name extends keyof GroupMemberEvents>(name: Name, listener: (event: GroupMemberEvents[Name]) => unknown): this {
    this.#session.events.once(name, listener)
    return this
  }

  off<Name extends keyof GroupMemberEvents>(name: Name, listener: (event: GroupMemberEvents[Name]) => unknown): this {
    this.#session.events.off(name, listener)
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
    const source = recordSource<ConsumerRecordOf<T>>(this.#session.feed)
    return this.#session.reading.iterate(
      source,
      (record: AnyRecord) => this.#session.progress.gaveRecord(record),
      options.signal,
    )
  }

  /** Up to so many records of one partition at a time; asking for the next batch marks the one before as done. */
  batches(
    options: BatchesOptions = {},
  ): AsyncIterableIterator<ConsumerBatch<ConsumerRecordOf<T>>, undefined, undefined> {
    const config = batchesConfig('GroupMember.batches', options)
    const source = batchSource<ConsumerRecordOf<T>>(this.#session.feed, this.#session.cluster.clock, config)
    return this.#session.reading.iterate(
      source,
      (batch: ConsumerBatch<AnyRecord>) => this.#session.progress.gaveBatch(batch),
      config.signal,
    )
  }

  // ---- positions

  /** The offset of the next record of the partition; undefined while it is not known, or when the partition is another's. */
  position(partition: TopicPartition): number | undefined {
    return this.#session.progress.positionOf(partition)
  }

  /**
   * Goes on elsewhere in one partition, at once.
   * @throws {UsageError} NOT_ASSIGNED for a partition that is not this member's
   */
  seek(partition: TopicPartition, to: StartPosition): void {
    checkPosition('seek', to)
    this.#session.checkAlive()
    this.#session.assignments.seek(partition, to)
  }

  /** Goes on elsewhere in all of this member's partitions; resolves when the new positions are known. */
  async rewind(to: StartPosition, options: WaitOptions = {}): Promise<void> {
    checkPosition('rewind', to)
    const deadline = this.#deadline(options)
    await this.#session.located('rewind', deadline)
    for (const partition of this.#session.assignments.all) this.#session.assignments.seek(partition, to)
    await this.#session.feed.positioned(deadline)
  }

  /** Gives out nothing more of these partitions (all, unless named) until resume(); what is fetched already is kept. */
  pause(partitions?: readonly TopicPartition[]): void {
    this.#session.checkAlive()
    this.#session.assignments.pause(partitions ?? this.#session.assignments.all)
  }

  /** Ends pause() of these partitions (all, unless named). */
  resume(partitions?: readonly TopicPartition[]): void {
    this.#session.checkAlive()
    this.#session.assignments.resume(partitions ?? this.#session.assignments.all)
  }

  /** How far this member's positions are from the ends of their partitions, asked of the brokers now. */
  async lag(options: WaitOptions = {}): Promise<PartitionLag[]> {
    const deadline = this.#deadline(options)
    await this.#session.located('lag', deadline)
    return lagOf(this.#session.feed, this.#session.lookup, deadline)
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
    this.#session.checkAlive()
    if (record === undefined) {
      await this.#session.commits.commitDone(this.#session.assignments.committable, deadline, options.metadata)
    } else {
      const { topic, partition, offset, leaderEpoch, source } = record
      const behind = { topic, partition, offset: offset + 1, leaderEpoch, metadata: options.metadata ?? '' }
      const ifOwned = () => {
        if (this.#session.feed.owns(source)) return behind
        const message = `commit: ${topic}-${partition} is not this member's any more, or was sought elsewhere since offset ${offset} was given out`
        throw new UsageError(message, 'NOT_ASSIGNED')
      }
      ifOwned()
      this.#session.progress.done(source, offset)
      await this.#session.commits.commitOffset(ifOwned, deadline)
    }
  }

  #deadline({ timeoutMs, signal }: WaitOptions): Deadline {
    return this.#session.cluster.deadline(timeoutMs ?? Infinity, signal)
  }
}

function isRecord(given: unknown): given is AnyRecord {
  return typeof given === 'object' && given !== null && 'source' in given && 'offset' in given
}

function checkPosition(what: string, position: unknown): void {
  if (!isStartPosition(position)) throw new UsageError(`GroupMember: ${what} takes ${startPositionText}`)
}
