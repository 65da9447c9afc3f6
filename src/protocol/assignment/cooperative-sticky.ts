// Cooperative sticky (KIP-429): as balanced as the subscriptions allow, moving as little as possible. What moves is withheld in
// this round: its old owner must give it up first, and joins again at once, so that the next round can hand it out.
import { comparePartitions, partitionKey, type TopicPartition } from '../topic-partition.js'
import { inMemberOrder, subscribersByTopic, type Assignor, type MemberSubscription } from './assignor.js'

interface Load {
  readonly memberId: string
  readonly partitions: Set<string>
}

export const cooperativeSticky: Assignor = {
  name: 'cooperative-sticky',
  rebalance: 'cooperative',
  assign(members, partitionCounts) {
    const order = inMemberOrder(members)
    const subscribers = subscribersByTopic(order, partitionCounts)
    const all = allPartitions(subscribers, partitionCounts)
    const claimed = claims(members)
    const loads = balanced(order, subscribers, all, currentOwners(claimed, all))

    const assignment = new Map<string, TopicPartition[]>()
    for (const { memberId, partitions } of loads.values()) {
      const given = [...partitions].filter((key) => {
        const claimants = claimed.get(key) ?? []
        return claimants.every((claimant) => claimant.memberId === memberId)
      })
      assignment.set(memberId, given.map((key) => all.get(key) as TopicPartition).sort(comparePartitions))
    }
    return assignment
  },
}

type Subscribers = ReadonlyMap<string, readonly MemberSubscription[]>

function allPartitions(subscribers: Subscribers, counts: ReadonlyMap<string, number>): Map<string, TopicPartition> {
  const all = new Map<string, TopicPartition>()
  for (const topic of subscribers.keys()) {
    for (let partition = 0; partition < (counts.get(topic) ?? 0); partition++) {
      const one = { topic, partition }
      all.set(partitionKey(one), one)
    }
  }
  return all
}

/**
 * Who says that it owns a partition. A claim of an older generation than another's is void: that member was out of the group
 * since. Of the same generation both stand, and until both joined without it, nobody may get the partition.
 */
function claims(members: readonly MemberSubscription[]): Map<string, readonly MemberSubscription[]> {
  const claimants = new Map<string, MemberSubscription[]>()
  for (const member of members) {
    for (const one of member.owned) {
      const key = partitionKey(one)
      const known = claimants.get(key)
      const newest = known?.[0]?.generation ?? -Infinity
      if (!known || member.generation > newest) claimants.set(key, [member])
      else if (member.generation === newest && !known.includes(member)) known.push(member)
    }
  }
  return claimants
}

/** Partitions that their only claimant still subscribes to. */
function currentOwners(
  claimed: ReadonlyMap<string, readonly MemberSubscription[]>,
  all: ReadonlyMap<string, TopicPartition>,
): Map<string, string> {
  const owners = new Map<string, string>()
  for (const [key, [member, other]] of claimed) {
    const topic = all.get(key)?.topic
    if (member && !other && topic !== undefined && member.topics.includes(topic)) owners.set(key, member.memberId)
  }
  return owners
}

function balanced(
  order: readonly MemberSubscription[],
  subscribers: Subscribers,
  all: ReadonlyMap<string, TopicPartition>,
  owners: ReadonlyMap<string, string>,
): Map<string, Load> {
  const loads = new Map<string, Load>(order.map(({ memberId }) => [memberId, { memberId, partitions: new Set() }]))
  for (const [key, memberId] of owners) loads.get(memberId)?.partitions.add(key)

  // What has no owner goes to the least loaded that may have it; what few may have, first.
  const free = [...all].filter(([key]) => !owners.has(key))
  const choices = ([, { topic }]: (typeof free)[number]) => subscribers.get(topic)?.length ?? 0
  free.sort((a, b) => choices(a) - choices(b) || comparePartitions(a[1], b[1]))
  for (const [key, { topic }] of free) {
    let least: Load | undefined
    for (const { memberId } of subscribers.get(topic) ?? []) {
      const load = loads.get(memberId) as Load
      if (!least || load.partitions.size < least.partitions.size) least = load
    }
    least?.partitions.add(key)
  }
  // First with what nobody owns, which costs no revocation: after the round that revoked, this alone makes it even.
  const ownedByNobody = new Set(free.map(([key]) => key))
  while (moveOne(loads, subscribers, all, (key) => ownedByNobody.has(key))) continue
  while (moveOne(loads, subscribers, all, () => true)) continue
  return loads
}

/**
 * Takes one partition from a member that has at least two more than another, along the shortest chain of members that may pass
 * partitions on to each other. False when there is no such chain: the assignment is then as even as the subscriptions allow.
 */
function moveOne(
  loads: ReadonlyMap<string, Load>,
  subscribers: Subscribers,
  all: ReadonlyMap<string, TopicPartition>,
  mayMove: (key: string) => boolean,
): boolean {
  const fullestFirst = [...loads.values()].sort((a, b) => b.partitions.size - a.partitions.size)
  const smallest = fullestFirst.at(-1)?.partitions.size ?? 0
  for (const start of fullestFirst) {
    if (start.partitions.size - smallest < 2) return false
    const cameBy = new Map<Load, { readonly from: Load; readonly key: string }>()
    const queue: Load[] = [start]
    const seenTopics = new Set<string>()
    for (let giver = queue.shift(); giver; giver = queue.shift()) {
      for (const key of giver.partitions) {
        const { topic } = all.get(key) as TopicPartition
        if (!mayMove(key) || seenTopics.has(topic)) continue
        seenTopics.add(topic)
        const takers = (subscribers.get(topic) ?? [])
          .map(({ memberId }) => loads.get(memberId) as Load)
          .filter((taker) => taker !== start && !cameBy.has(taker))
          .sort((a, b) => a.partitions.size - b.partitions.size)
        for (const taker of takers) {
          cameBy.set(taker, { from: giver, key })
          if (start.partitions.size - taker.partitions.size >= 2) {
            passAlong(taker, start, cameBy)
            return true
          }
          queue.push(taker)
        }
      }
    }
  }
  return false
}

function passAlong(
  last: Load,
  start: Load,
  cameBy: ReadonlyMap<Load, { readonly from: Load; readonly key: string }>,
): void {
  for (let taker = last; taker !== start;) {
    const step = cameBy.get(taker)
    if (!step) return
    step.from.partitions.delete(step.key)
    taker.partitions.add(step.key)
    taker = step.from
  }
}
