// What a GroupMember is made of, and its life: the parts put together, started, and ended in order. It decides neither who reads what (the
// membership), nor what is done (progress) or committed (commits).
import { UsageError, type KafkaError } from '../../errors.js'
import type { Deadline } from '../../util/deadline.js'
import { Deferred } from '../../util/deferred.js'
import type { Events } from '../../util/events.js'
import { Cluster } from '../cluster/index.js'
import { policyOf } from '../consumer/consumer-options.js'
import { OffsetLookup } from '../consumer/offset-lookup.js'
import { RecordFeed } from '../consumer/record-feed.js'
import { recordSerdes } from '../consumer/record-serdes.js'
import { topicName } from '../serde/index.js'
import { Assignments } from './assignments.js'
import { ClassicMembership } from './classic-membership.js'
import { CommittedOffsets, type CommittedOffset } from './committed-offsets.js'
import { Commits, type CommitsHost } from './commits.js'
import type { GroupMemberEvents } from './events.js'
import { GroupRequests } from './group-requests.js'
import type { ClassicState } from './membership/classic.js'
import type { GroupMemberConfig } from './options.js'
import { ProcessingWatch } from './processing-watch.js'
import { Progress } from './progress.js'
import { Reading } from './reading.js'

/** How long close() waits for the last commit and the coordinator's answer, unless told otherwise. */
export const CLOSE_TIMEOUT_MS = 10_000

/** A commit that nobody waits for gives up after so long; the next one tries again. */
const COMMIT_TIMEOUT_MS = 30_000

export class GroupSession {
  readonly cluster: Cluster
  readonly events: Events<GroupMemberEvents>
  readonly lookup: OffsetLookup
  readonly feed: RecordFeed
  readonly progress: Progress
  readonly reading: Reading
  readonly commits: Commits
  readonly assignments: Assignments
  readonly membership: ClassicMembership
  readonly #config: GroupMemberConfig
  readonly #watch: ProcessingWatch
  #starting: Promise<void> | undefined
  #isClosing = false
  /** Why the member cannot go on; thrown by whatever is asked of it. */
  #failure: KafkaError | undefined
  /** To be thrown to the reader once. */
  #complaint: KafkaError | undefined
  #change = new Deferred<void>()
  #unlisten: (() => void) | undefined

  constructor(config: GroupMemberConfig) {
    const topics = new Map(config.topics.map((topic) => [topicName(topic), topic]))
    const cluster = new Cluster(config, 'GroupMember')
    this.#config = config
    this.cluster = cluster
    this.events = cluster.events as unknown as Events<GroupMemberEvents> // one emitter for both kinds of event
    this.lookup = new OffsetLookup(cluster, config.isolation)
    this.feed = new RecordFeed({
      cluster,
      config,
      outOfRange: policyOf(config.outOfRange, config.from),
      lookup: this.lookup,
      serdesOf: (topic) => recordSerdes(topics.get(topic)),
      onDone: (source, offset) => this.progress.done(source, offset),
      onReset: (event) => {
        this.commits.moved(event)
        this.events.emit('reset', event)
      },
    })
    this.progress = new Progress(this.feed)
    this.#watch = new ProcessingWatch(
      cluster.clock,
      config.maxProcessingMs,
      () => this.progress.isHandling,
      () => this.#stalled(),
    )
    this.reading = new Reading({
      cluster,
      feed: this.feed,
      progress: this.progress,
      watch: this.#watch,
      begin: async () => this.start(),
      asked: () => this.#asked(),
      isClosed: () => this.#isClosing,
    })
    const requests = new GroupRequests(cluster, { ...config, rebalanceTimeoutMs: config.maxProcessingMs })
    const offsets = new CommittedOffsets(cluster, config.group, requests)
    this.commits = new Commits(cluster.clock, offsets, this.progress, this.#commitsHost(), COMMIT_TIMEOUT_MS)
    this.assignments = new Assignments({
      cluster,
      feed: this.feed,
      progress: this.progress,
      offsets,
      commits: this.commits,
      events: this.events,
      from: config.from,
      requireStable: config.isolation === 'read_committed',
      commitsByItself: config.commit !== 'manual',
      limitMs: config.maxProcessingMs,
      isHurried: () => isLeaving(this.membership.state),
      onFailure: (error) => this.#fail(error),
      onListenerFailed: (error) => this.#complain(error),
      onChange: () => this.#changed(),
    })
    this.membership = new ClassicMembership(
      cluster,
      requests,
      {
        topics: [...topics.keys()],
        assign: (added) => this.assignments.assign(added),
        giveUp: (partitions, parting) => this.assignments.giveUp(partitions, parting),
        moved: (from, to) => this.#moved(from, to),
        retrying: (error) => cluster.logger.warn(error.message),
      },
      { ...config, leaveTimeoutMs: CLOSE_TIMEOUT_MS, isStatic: config.instanceId !== undefined },
    )
  }

  /** Has the member join, if it has not begun to. Throws when it is closed or cannot go on. */
  start(): Promise<void> {
    this.checkAlive()
    if (this.#starting) return this.#starting
    const starting = (this.#starting = this.#begin())
    starting.catch((error: unknown) => this.#fail(error as KafkaError))
    return starting
  }

  async #begin(): Promise<void> {
    const deadline = this.cluster.deadline() // ends with the cluster: what hinders it until then is told by events
    const names = this.#config.topics.map((topic) => topicName(topic))
    const topics = await this.cluster.topics(names, deadline, { missing: 'report' })
    for (const { name, error, partitions } of topics.values()) {
      if (error && !error.retriable) throw error
      if (!error || error.code === 'UNKNOWN_TOPIC_OR_PARTITION') this.assignments.knowsCount(name, partitions.length)
    }
    if (this.#isClosing) return
    this.#unlisten = this.cluster.onMetadata(() => this.membership.metadataChanged())
    if (this.#config.commit !== 'manual') this.commits.startInterval(this.#config.commit.intervalMs)
    this.#watch.start()
    this.membership.happened({ type: 'start' })
  }

  /** Resolves when the member has its assignment, is told of it, and knows where to begin. */
  ready(deadline: Deadline): Promise<void> {
    return this.#joined('ready', deadline, () => this.assignments.isSettled)
  }

  /** What a listener of 'assigned' may wait for as well, since it is itself what ready() waits for. */
  located(what: string, deadline: Deadline): Promise<void> {
    return this.#joined(what, deadline, () => this.assignments.isLocated)
  }

  async #joined(what: string, deadline: Deadline, isThere: () => boolean): Promise<void> {
    await deadline.race(this.start(), `GroupMember: ${what}`)
    while (!(this.membership.state.name === 'stable' && isThere())) {
      this.checkAlive()
      await deadline.race(this.#change.promise, `GroupMember: ${what}`)
    }
    await this.feed.positioned(deadline)
  }

  async close(deadline: Deadline): Promise<void> {
    this.#isClosing = true
    // A listener may be slow, or itself be waiting for close(): half of the time is left for the last commit and the coordinator.
    const hurry = this.cluster.clock.setTimer(deadline.remainingMs() / 2, () => this.assignments.hurry())
    this.feed.wake()
    try {
      if (this.#starting) {
        await this.#commitBeforeLeaving(deadline)
        this.membership.happened({ type: 'close' })
        while (this.membership.state.name !== 'closed') {
          await deadline.race(this.#change.promise, 'GroupMember: close')
        }
      }
    } finally {
      hurry.cancel()
      this.assignments.hurry()
      this.#unlisten?.()
      this.#watch.stop()
      this.commits.stop()
      this.membership.stop()
      this.feed.close()
      await this.cluster.close()
      this.#changed()
    }
  }

  /**
   * A cooperative member that is just joining may be in the group's next generation without knowing it yet: then its old one commits
   * nothing any more, and the next owners would read again what is done. So its commit comes before it gives the rebalance up.
   */
  async #commitBeforeLeaving(deadline: Deadline): Promise<void> {
    const { name } = this.membership.state
    if (this.#config.commit === 'manual' || (name !== 'joining' && name !== 'syncing')) return
    const half = this.cluster.deadline(deadline.remainingMs() / 2, deadline.signal)
    try {
      await this.commits.commitDone(this.assignments.committable, half)
    } catch (error) {
      this.cluster.logger.debug('a commit before leaving the group failed; it is tried once more', { error })
    }
  }

  #moved(from: ClassicState, to: ClassicState): void {
    if (isLeaving(to)) this.progress.stopWaiting()
    if (to.name === 'failed') this.#fail(to.error)
    if (from.name !== to.name) this.events.emit('state', { from: from.name, to: to.name })
    this.#changed()
  }

  #stalled(): void {
    this.events.emit('stalled', { maxProcessingMs: this.#config.maxProcessingMs })
    this.membership.happened({ type: 'stalled' })
  }

  #fail(error: KafkaError): void {
    if (this.#isClosing) return
    this.#failure ??= error
    this.feed.wake()
    this.#changed()
  }

  #complain(error: KafkaError): void {
    if (this.#isClosing) return
    this.#complaint ??= error
    this.feed.wake()
  }

  #changed(): void {
    const change = this.#change
    this.#change = new Deferred()
    change.resolve()
  }

  /** Throws CLOSED, or why the member cannot go on. */
  checkAlive(): void {
    if (this.#isClosing) throw closedError()
    if (this.#failure) throw this.#failure
  }

  #asked(): void {
    const failure = this.#failure ?? this.#complaint
    if (failure) {
      this.#complaint = undefined
      throw failure
    }
    if (this.membership.state.name === 'dormant') this.membership.happened({ type: 'resumed' })
  }

  #commitsHost(): CommitsHost {
    const standing = () => this.membership.standing
    const committable = () => this.assignments.committable
    return {
      get standing() {
        return standing()
      },
      get committable() {
        return committable()
      },
      owns: (partition) => this.assignments.owns(partition),
      refused: (error, asWhom) => this.membership.refused(error, asWhom),
      moved: (deadline) => deadline.race(this.#change.promise, 'a commit during a rebalance'),
      committed: (offsets: readonly CommittedOffset[]) => this.events.emit('committed', { offsets }),
      commitFailed: (error) => {
        this.events.emit('commitFailed', { error })
        this.cluster.logger.warn(error.message)
      },
    }
  }
}

/** On the way out of the group: a handler is not waited for any more. */
function isLeaving({ name }: ClassicState): boolean {
  return name === 'closing' || name === 'leaving' || name === 'dormant' || name === 'failed' || name === 'closed'
}

function closedError(): UsageError {
  return new UsageError('GroupMember: it is closed', 'CLOSED')
}
