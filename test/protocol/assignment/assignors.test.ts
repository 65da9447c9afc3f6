import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Assignment, Assignor, MemberSubscription } from '../../../src/protocol/assignment/assignor.js'
import { cooperativeSticky } from '../../../src/protocol/assignment/cooperative-sticky.js'
import { range } from '../../../src/protocol/assignment/range.js'
import { roundRobin } from '../../../src/protocol/assignment/round-robin.js'
import { partitionKey, type TopicPartition } from '../../../src/protocol/topic-partition.js'

function member(memberId: string, topics: string[], more: Partial<MemberSubscription> = {}): MemberSubscription {
  return { memberId, instanceId: null, topics, owned: [], generation: -1, ...more }
}

function keys(assignment: Assignment): Record<string, string[]> {
  return Object.fromEntries([...assignment].map(([memberId, partitions]) => [memberId, partitions.map(partitionKey)]))
}

const counts = (topics: Record<string, number>) => new Map(Object.entries(topics))

/** The member as it joins the next round with what it was given in generation `generation`. */
function rejoined(members: MemberSubscription[], assignment: Assignment, generation: number): MemberSubscription[] {
  return members.map((one) => ({ ...one, owned: assignment.get(one.memberId) ?? [], generation }))
}

describe('range', () => {
  it('gives each topic in consecutive runs, the first members one more', () => {
    const members = [member('b', ['t', 'u']), member('a', ['t', 'u'])]
    expect(keys(range.assign(members, counts({ t: 3, u: 3 })))).toEqual({
      a: ['t-0', 't-1', 'u-0', 'u-1'],
      b: ['t-2', 'u-2'],
    })
  })

  it('puts static members first, by instance id, as Kafka does', () => {
    const members = [
      member('a', ['t']),
      member('z', ['t'], { instanceId: 'i2' }),
      member('y', ['t'], { instanceId: 'i1' }),
    ]
    expect(keys(range.assign(members, counts({ t: 3 })))).toEqual({ y: ['t-0'], z: ['t-1'], a: ['t-2'] })
  })

  it('leaves out topics that do not exist and members that subscribe to nothing', () => {
    const members = [member('a', ['missing', 't']), member('b', [])]
    expect(keys(range.assign(members, counts({ t: 2 })))).toEqual({ a: ['t-0', 't-1'], b: [] })
  })
})

describe('round robin', () => {
  it('deals the partitions of all topics out in turn', () => {
    const members = [member('a', ['t', 'u']), member('b', ['t', 'u'])]
    expect(keys(roundRobin.assign(members, counts({ t: 3, u: 3 })))).toEqual({
      a: ['t-0', 't-2', 'u-1'],
      b: ['t-1', 'u-0', 'u-2'],
    })
  })

  it('passes over members that do not subscribe to the topic', () => {
    const members = [member('a', ['t']), member('b', ['t', 'u']), member('c', ['u', 't', 'v'])]
    expect(keys(roundRobin.assign(members, counts({ t: 1, u: 2, v: 3 })))).toEqual({
      a: ['t-0'],
      b: ['u-0'],
      c: ['u-1', 'v-0', 'v-1', 'v-2'],
    })
  })
})

describe('cooperative sticky', () => {
  it('T67 first only revokes, then assigns, when a third member joins two with six partitions', () => {
    const topics = counts({ t: 6 })
    const two = [member('a', ['t']), member('b', ['t'])]
    const first = cooperativeSticky.assign(two, topics)
    const three = [...rejoined(two, first, 1), member('c', ['t'])]
    const second = cooperativeSticky.assign(three, topics)
    expect([...second.values()].map((partitions) => partitions.length)).toEqual([2, 2, 0])
    const third = cooperativeSticky.assign(rejoined(three, second, 2), topics)
    expect([...third.values()].map((partitions) => partitions.length)).toEqual([2, 2, 2])
    for (const memberId of ['a', 'b']) {
      expect(keys(third)[memberId]).toEqual(keys(second)[memberId])
      expect(keys(first)[memberId]).toEqual(expect.arrayContaining(keys(second)[memberId] as string[]))
    }
  })

  it('T66 believes the newest generation when two members claim a partition', () => {
    const owned = [{ topic: 't', partition: 0 }]
    const members = [
      member('stale', ['t'], { owned, generation: 3 }),
      member('current', ['t'], { owned, generation: 5 }),
    ]
    expect(keys(cooperativeSticky.assign(members, counts({ t: 1 })))).toEqual({ stale: [], current: ['t-0'] })
  })

  it('T66 lets nobody keep a partition that two claim from the same generation', () => {
    const owned = [{ topic: 't', partition: 0 }]
    const members = [member('a', ['t'], { owned, generation: 5 }), member('b', ['t'], { owned, generation: 5 })]
    const first = cooperativeSticky.assign(members, counts({ t: 1 }))
    expect(keys(first)).toEqual({ a: [], b: [] })
    const second = cooperativeSticky.assign(rejoined(members, first, 6), counts({ t: 1 }))
    expect([...second.values()].flat()).toHaveLength(1)
  })

  it('passes partitions along a chain of members where no single move helps', () => {
    const members = [member('a', ['t', 'u']), member('b', ['u', 'v']), member('c', ['v'])]
    const owned = (topic: string, n: number): TopicPartition[] =>
      Array.from({ length: n }, (_, partition) => ({ topic, partition }))
    const joined = [
      { ...(members[0] as MemberSubscription), owned: [...owned('t', 2), ...owned('u', 1)], generation: 1 },
      { ...(members[1] as MemberSubscription), owned: owned('v', 2), generation: 1 },
      { ...(members[2] as MemberSubscription), owned: [], generation: 1 },
    ]
    const topics = counts({ t: 2, u: 1, v: 2 })
    const revoked = cooperativeSticky.assign(joined, topics)
    const settled = cooperativeSticky.assign(rejoined(joined, revoked, 2), topics)
    expect([...settled.values()].map((partitions) => partitions.length).sort()).toEqual([1, 2, 2])
  })
})

// ---- whatever the group looks like

const groups = fc
  .tuple(
    fc.dictionary(fc.constantFrom('t', 'u', 'v', '__proto__x'), fc.integer({ min: 0, max: 12 }), { minKeys: 1 }),
    fc.array(fc.subarray(['t', 'u', 'v', '__proto__x', 'missing']), { minLength: 1, maxLength: 8 }),
  )
  .map(([topics, subscriptions]) => ({
    topics: counts(topics),
    members: subscriptions.map((list, i) => member(`m${i}`, list)),
  }))

function readable(members: MemberSubscription[], topics: ReadonlyMap<string, number>): string[] {
  const wanted = new Set(members.flatMap((one) => one.topics))
  return [...topics]
    .filter(([topic]) => wanted.has(topic))
    .flatMap(([topic, count]) => Array.from({ length: count }, (_, partition) => partitionKey({ topic, partition })))
    .sort()
}

describe.each<Assignor>([range, roundRobin, cooperativeSticky])('$name', (assignor) => {
  it('gives every partition to exactly one member that subscribes to it', () => {
    fc.assert(
      fc.property(groups, ({ members, topics }) => {
        const assignment = assignor.assign(members, topics)
        expect([...assignment.values()].flat().map(partitionKey).sort()).toEqual(readable(members, topics))
        for (const { memberId, topics: subscribed } of members) {
          for (const { topic } of assignment.get(memberId) ?? []) expect(subscribed).toContain(topic)
        }
      }),
    )
  })
})

describe('cooperative sticky, whatever the group looks like', () => {
  it('settles within two rounds of a change, evenly, and then stays as it is', () => {
    fc.assert(
      fc.property(groups, groups, (before, after) => {
        const first = cooperativeSticky.assign(before.members, after.topics)
        const known = new Map(rejoined(before.members, first, 1).map((one) => [one.memberId, one]))
        const changed = after.members.map((one) => ({
          ...one,
          owned: known.get(one.memberId)?.owned ?? [],
          generation: 1,
        }))
        const second = cooperativeSticky.assign(changed, after.topics)
        const third = cooperativeSticky.assign(rejoined(changed, second, 2), after.topics)
        expect([...third.values()].flat().map(partitionKey).sort()).toEqual(readable(changed, after.topics))
        const fourth = cooperativeSticky.assign(rejoined(changed, third, 3), after.topics)
        expect(keys(fourth)).toEqual(keys(third))
      }),
    )
  })

  it('never hands a partition out while another member still owns it', () => {
    fc.assert(
      fc.property(groups, groups, (before, after) => {
        const first = cooperativeSticky.assign(before.members, after.topics)
        const changed = after.members.map((one) => ({ ...one, owned: first.get(one.memberId) ?? [], generation: 1 }))
        const ownerOf = new Map(changed.flatMap((one) => one.owned.map((owned) => [partitionKey(owned), one.memberId])))
        for (const [memberId, partitions] of cooperativeSticky.assign(changed, after.topics)) {
          for (const one of partitions) expect(ownerOf.get(partitionKey(one)) ?? memberId).toBe(memberId)
        }
      }),
    )
  })

  it('differs by at most one partition between members of the same subscription', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9 }), (partitions, size) => {
        const members = Array.from({ length: size }, (_, i) => member(`m${i}`, ['t']))
        const loads = [...cooperativeSticky.assign(members, counts({ t: partitions })).values()].map(
          (one) => one.length,
        )
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1)
      }),
    )
  })
})
