// What every assignor is: a pure function from the members' subscriptions to who reads what. Run by the leader of a classic group.
import { compareText, type TopicPartition } from '../topic-partition.js'

export interface MemberSubscription {
  readonly memberId: string
  /** The group.instance.id of a static member (KIP-345). */
  readonly instanceId: string | null
  readonly topics: readonly string[]
  /** What the member owned when it joined, and the generation in which it got that; -1 when it does not know. */
  readonly owned: readonly TopicPartition[]
  readonly generation: number
}

export type Assignment = ReadonlyMap<string, readonly TopicPartition[]>

export interface Assignor {
  /** The protocol name that all members must share, e.g. 'range'. */
  readonly name: string
  /** Eager members give everything up before they join; cooperative ones only what they are told to (KIP-429). */
  readonly rebalance: 'eager' | 'cooperative'
  /** Topics that do not exist are absent from `partitionCounts`. */
  assign(members: readonly MemberSubscription[], partitionCounts: ReadonlyMap<string, number>): Assignment
}

/** Kafka's order of members: static ones first, by instance id, then the others by member id. */
export function inMemberOrder(members: readonly MemberSubscription[]): MemberSubscription[] {
  return [...members].sort((a, b) => {
    if (a.instanceId !== null && b.instanceId !== null) return compareText(a.instanceId, b.instanceId)
    if (a.instanceId !== null) return -1
    if (b.instanceId !== null) return 1
    return compareText(a.memberId, b.memberId)
  })
}

/** The members of each existing topic, topics by name, members in the order given. */
export function subscribersByTopic(
  members: readonly MemberSubscription[],
  partitionCounts: ReadonlyMap<string, number>,
): Map<string, MemberSubscription[]> {
  const subscribers = new Map<string, MemberSubscription[]>()
  const topics = new Set(members.flatMap((member) => member.topics))
  for (const topic of [...topics].sort(compareText)) {
    if (partitionCounts.has(topic)) subscribers.set(topic, [])
  }
  for (const member of members) {
    for (const topic of new Set(member.topics)) subscribers.get(topic)?.push(member)
  }
  return subscribers
}
