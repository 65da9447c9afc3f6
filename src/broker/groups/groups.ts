// All groups of a cluster: which broker has which, what is stored of them, and the expiry of offsets.
// Every group lives at one broker; when its coordinator changes, it is loaded there from what is stored, as Kafka does.
import type { ErrorName } from '../../protocol/messages/error-table.js'
import type { Timer } from '../../util/clock.js'
import type { ClusterState } from '../cluster-state.js'
import { isSubscribed, consumerProtocolType } from './group-members.js'
import { LiveGroup } from './live-group.js'
import { newStoredGroup, type StoredGroup } from './stored-group.js'

export class Groups {
  readonly cluster: ClusterState
  readonly #stored = new Map<string, StoredGroup>()
  readonly #live = new Map<string, LiveGroup>()
  readonly #onTopicDeleted = ({ name }: { readonly name: string }): void => this.#dropTopic(name)
  readonly #onCoordinatorsChanged = (): void => this.#moveGroups()
  #expiry: Timer | undefined

  constructor(cluster: ClusterState) {
    this.cluster = cluster
    cluster.events.on('topicDeleted', this.#onTopicDeleted)
    cluster.events.on('coordinatorsChanged', this.#onCoordinatorsChanged)
  }

  /** Whether a broker may speak for a group. */
  coordinatorError(groupId: string, brokerId: number): ErrorName {
    return this.cluster.coordinatorOf(groupId) === brokerId ? 'NONE' : 'NOT_COORDINATOR'
  }

  get(groupId: string): LiveGroup | undefined {
    return this.#live.get(groupId)
  }

  getOrCreate(groupId: string): LiveGroup {
    const known = this.#live.get(groupId)
    if (known) return known
    const stored = newStoredGroup(this.cluster.clock.date())
    this.#stored.set(groupId, stored)
    this.#expiry ??= this.#scheduleExpiry()
    return this.#load(groupId, stored)
  }

  /** Those that a broker coordinates, or all. */
  list(brokerId?: number): LiveGroup[] {
    const all = [...this.#live.values()]
    return brokerId === undefined ? all : all.filter((group) => group.brokerId === brokerId)
  }

  /** Forgets an empty group and its offsets. */
  delete(group: LiveGroup): void {
    group.handle({ kind: 'delete' })
    if (group.state.kind !== 'Dead') return
    this.#live.delete(group.groupId)
    this.#stored.delete(group.groupId)
  }

  close(): void {
    this.cluster.events.off('topicDeleted', this.#onTopicDeleted)
    this.cluster.events.off('coordinatorsChanged', this.#onCoordinatorsChanged)
    this.#expiry?.cancel()
    for (const group of this.#live.values()) group.handle({ kind: 'unload' })
    this.#live.clear()
  }

  #load(groupId: string, stored: StoredGroup): LiveGroup {
    const { cluster } = this
    const group = new LiveGroup(groupId, cluster.coordinatorOf(groupId), stored, cluster)
    this.#live.set(groupId, group)
    return group
  }

  #moveGroups(): void {
    for (const [groupId, stored] of this.#stored) {
      const coordinator = this.cluster.coordinatorOf(groupId)
      const live = this.#live.get(groupId)
      if (live?.brokerId === coordinator) continue
      live?.handle({ kind: 'unload' })
      this.#live.delete(groupId)
      if (this.cluster.nodes.has(coordinator)) this.#load(groupId, stored)
    }
  }

  #dropTopic(topic: string): void {
    for (const { offsets } of this.#stored.values()) offsets.deleteTopic(topic)
  }

  #scheduleExpiry(): Timer {
    const intervalMs = this.cluster.config.int('offsets.retention.check.interval.ms')
    return this.cluster.clock.setTimer(intervalMs, () => {
      for (const group of this.#live.values()) this.#expire(group)
      this.#expiry = this.#stored.size > 0 ? this.#scheduleExpiry() : undefined
    })
  }

  /**
   * Offsets go when nobody has used them for offsets.retention.minutes (KIP-211): counted from when the group became empty, or
   * from the commit where no consumer subscribes to the topic. An empty group goes with its last offset.
   */
  #expire(group: LiveGroup): void {
    const { state } = group
    if (state.kind === 'Dead') return
    const now = this.cluster.clock.date()
    const retentionMs = this.cluster.config.int('offsets.retention.minutes') * 60_000
    const isSimple = state.kind === 'Empty' && state.protocolType === null
    const mayExpire =
      state.kind === 'Empty' ||
      (state.kind === 'Stable' && state.protocolType === consumerProtocolType && state.topics !== null)
    if (!mayExpire) return
    const nothingLeft = group.stored.offsets.expire((topic, { committedAt, expiresAt }) => {
      if (isSubscribed(state, topic)) return false
      if (expiresAt !== null) return now >= expiresAt
      return now - (state.kind === 'Empty' && !isSimple ? group.since : committedAt) >= retentionMs
    })
    if (nothingLeft && state.kind === 'Empty') this.delete(group)
  }
}
