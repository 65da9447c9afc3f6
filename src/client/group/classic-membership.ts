// The shell of the classic membership: performs the effects of its step function and reports what came of them. Every join or sync
// has an epoch; an answer that comes when another has begun since is dropped.
import type { KafkaError } from '../../errors.js'
import { asKafkaError } from '../../errors.js'
import type { Assignor } from '../../protocol/assignment/assignor.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'
import { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'
import type { GroupRequests, Standing } from './group-requests.js'
import { Heartbeats, type HeartbeatSettings } from './heartbeats.js'
import { GroupLeader } from './leader.js'
import { step, type ClassicState, type Rebalance } from './membership/classic.js'
import type { Effect, JoinedMember, MembershipEvent, Parting } from './membership/membership.js'
import { decodeAssignment, encodeSubscription } from '../../protocol/assignment/member-data.js'

/** What the membership asks of its owner. */
export interface MembershipOwner {
  /** Topics as they are subscribed to now. */
  readonly topics: readonly string[]
  assign(added: readonly TopicPartition[]): void
  /** Resolves when the partitions are given up; never rejects. */
  giveUp(partitions: readonly TopicPartition[], parting: Parting): Promise<void>
  moved(from: ClassicState, to: ClassicState): void
  /** Something failed that goes on being tried. */
  retrying(error: KafkaError): void
}

export interface MembershipSettings extends HeartbeatSettings {
  readonly assignors: readonly Assignor[]
  readonly leaveTimeoutMs: number
  /** Static members stay in the group when they close (KIP-345). */
  readonly isStatic: boolean
}

export class ClassicMembership {
  readonly #cluster: Cluster
  readonly #requests: GroupRequests
  readonly #owner: MembershipOwner
  readonly #settings: MembershipSettings
  readonly #rebalance: Rebalance
  readonly #heartbeats: Heartbeats
  readonly #leader: GroupLeader
  #state: ClassicState = { name: 'idle' }
  #request = new AbortController()

  constructor(cluster: Cluster, requests: GroupRequests, owner: MembershipOwner, settings: MembershipSettings) {
    this.#cluster = cluster
    this.#requests = requests
    this.#owner = owner
    this.#settings = settings
    // As in Java: one eager assignor among them makes the member eager, so that a group can be moved over in two rolling restarts.
    this.#rebalance = settings.assignors.every((assignor) => assignor.rebalance === 'cooperative')
      ? 'cooperative'
      : 'eager'
    this.#heartbeats = new Heartbeats(cluster.clock, requests, settings, (error, standing) =>
      this.refused(error, standing),
    )
    this.#leader = new GroupLeader(cluster, settings.assignors)
  }

  get state(): ClassicState {
    return this.#state
  }

  /** What requests on behalf of the member carry now; undefined while it is not in the group. */
  get standing(): Standing | undefined {
    const state = this.#state
    return 'generation' in state && state.generation >= 0 ? state : undefined
  }

  /** The coordinator refused a heartbeat or a commit. Of a generation that has passed since, that says nothing any more. */
  refused(error: KafkaError, { memberId, generation }: Standing): void {
    const now = this.standing
    if (now && now.memberId === memberId && now.generation === generation) this.happened({ type: 'refused', error })
  }

  /** The topics may have changed: the leader has the group assign anew if so. */
  metadataChanged(): void {
    if (this.#state.name !== 'stable') return
    const reason = this.#leader.outdated
    if (reason !== undefined) this.happened({ type: 'rejoin', reason })
  }

  /** Ends everything without a word to the group. */
  stop(): void {
    this.#request.abort()
    this.#heartbeats.stop()
  }

  happened(event: MembershipEvent): void {
    const [next, ...effects] = step(this.#rebalance, this.#state, event)
    const before = this.#state
    this.#state = next
    for (const effect of effects) this.#perform(effect)
    if (next !== before) this.#owner.moved(before, next)
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'join':
        this.#begin('joinFailed', (signal) => this.#join(effect, signal))
        break
      case 'sync':
        this.#begin('syncFailed', (signal) => this.#sync(effect, signal))
        break
      case 'cancel':
        this.#request.abort()
        break
      case 'startHeartbeats':
        this.#heartbeats.start(effect)
        break
      case 'stopHeartbeats':
        this.#heartbeats.stop()
        break
      case 'giveUp':
        this.#inBackground(
          this.#owner.giveUp(effect.partitions, effect.parting).then(() => this.happened({ type: 'givenUp' })),
        )
        break
      case 'assign':
        this.#owner.assign(effect.added)
        break
      case 'leave':
        this.#inBackground(this.#leave(effect.memberId, effect.reason, this.#state.name === 'leaving'))
        break
      case 'fail':
        break // the state says it, and moved() tells the owner
      default:
        effect satisfies never
    }
  }

  // Nothing that is started here rejects: each reports its failure as an event.
  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#cluster.logger.error('a group membership failed unexpectedly', { error }))
  }

  /** Runs a join or sync; what comes of it after another one has begun, or after cancel, is dropped. */
  #begin(failed: 'joinFailed' | 'syncFailed', work: (signal: AbortSignal) => Promise<MembershipEvent>): void {
    this.#request.abort()
    const { signal } = (this.#request = new AbortController())
    this.#inBackground(
      work(signal)
        .catch((cause: unknown): MembershipEvent => ({
          type: failed,
          error: asKafkaError(cause, 'a group membership'),
        }))
        .then((event) => {
          if (!signal.aborted) this.happened(event)
        }),
    )
  }

  async #join(effect: Extract<Effect, { readonly type: 'join' }>, signal: AbortSignal): Promise<MembershipEvent> {
    const { owned, generation } = effect
    const metadata = encodeSubscription({ topics: this.#owner.topics, owned, generation })
    const protocols = this.#settings.assignors.map(({ name }) => ({ name, metadata }))
    const response = await this.#requests.join(effect.memberId, protocols, effect.reason, this.#until(signal))
    const { errorCode, memberId, generationId, protocolName, leader } = response
    if (errorCode !== 0) {
      const error = this.#requests.refusal(errorCode, 'joining the group')
      return { type: 'joinFailed', error, memberId: memberId === '' ? undefined : memberId }
    }
    const leads = leader === memberId && !response.skipAssignment
    const members = leads
      ? response.members.map((one): JoinedMember => {
          return { memberId: one.memberId, instanceId: one.groupInstanceId, metadata: one.metadata }
        })
      : undefined
    return { type: 'joined', memberId, generation: generationId, protocol: protocolName ?? '', members }
  }

  async #sync(effect: Extract<Effect, { readonly type: 'sync' }>, signal: AbortSignal): Promise<MembershipEvent> {
    const { members, protocol } = effect
    if (!members) this.#leader.resign()
    const assignments = members ? await this.#leader.assign(members, protocol, this.#until(signal)) : []
    const response = await this.#requests.sync(effect, protocol, assignments, this.#until(signal))
    if (response.errorCode !== 0) {
      return { type: 'syncFailed', error: this.#requests.refusal(response.errorCode, 'synchronising with the group') }
    }
    return { type: 'synced', assigned: decodeAssignment(response.assignment) }
  }

  /** `isGoodbye`: the membership waits for the answer. Nobody does when a dormant member leaves, and it may have joined again by then. */
  async #leave(memberId: string, reason: string, isGoodbye: boolean): Promise<void> {
    try {
      if (!this.#settings.isStatic) {
        await this.#requests.leave(memberId, reason, new Deadline(this.#cluster.clock, this.#settings.leaveTimeoutMs))
      }
    } catch (error) {
      this.#owner.retrying(asKafkaError(error, 'a group membership')) // the broker finds out by itself when the session times out
    }
    if (isGoodbye) this.happened({ type: 'left' })
  }

  /** Joining goes on until it works or is not wanted any more; every failure on the way is a visible event of the cluster. */
  #until(signal: AbortSignal): Deadline {
    return new Deadline(this.#cluster.clock, Infinity, signal)
  }
}
