// Members together: sharing, joining, leaving, being killed, static members, and partitions that are added.
import { describe, expect, it } from 'vitest'
import type { GroupMember } from '../../src/client/group/index.js'
import { partitionKey } from '../../src/protocol/topic-partition.js'
import { until } from '../helpers/until.js'
import { useCluster, waitMs } from './cluster.js'
import { memberOf, numbers, produceNumbers, producerOf, Reader, recorded, sorted, take } from './clients.js'
import { Tracker, Writer } from './load.js'
import { KillableMember } from './killable-member.js'

const cluster = useCluster()
const PARTITIONS = 6

async function ordersAndGroup(partitions = PARTITIONS) {
  const topic = await cluster.createTopic('orders', partitions)
  return { topic, group: cluster.name('billing'), topics: [topic] }
}

/** Every member is stable, and they have so many partitions. */
async function share(members: readonly GroupMember[], ...counts: number[]): Promise<void> {
  await until(
    `${members.length} members share ${counts.join(', ')}`,
    () => members.every((member, i) => member.state === 'stable' && member.partitions().length === counts[i]),
    waitMs,
  )
  await Promise.all(members.map((member) => member.ready({ timeoutMs: waitMs }))) // and were told of it
}

const seenBy = (readers: readonly Reader[]) => readers.flatMap(({ seen }) => seen)
const read = (readers: readonly Reader[], count: number) =>
  until(`${count} are read`, () => seenBy(readers).length >= count, waitMs)

describe('sharing', () => {
  it.each([['range', 'cooperative-sticky'], ['cooperative-sticky'], ['roundrobin']] as const)(
    'two share by %s, a third joins, one leaves, and nothing is lost or read twice',
    async (...assignors) => {
      const { topic, group, topics } = await ordersAndGroup()
      const produce = (first: number) => produceNumbers(cluster, topic, 60, { first, partitions: PARTITIONS })
      await produce(0)
      const options = { group, topics, assignors }
      const members = [memberOf(cluster, options), memberOf(cluster, options)]
      const readers = members.map((member) => new Reader(member))
      await share(members, 3, 3)
      await produce(60)
      const third = memberOf(cluster, options)
      members.push(third)
      readers.push(new Reader(third))
      await share(members, 2, 2, 2)
      await produce(120)
      await read(readers, 180)
      await members[0]?.close()
      await share(members.slice(1), 3, 3)
      await produce(180)
      await read(readers, 240)
      await Promise.all(members.map((member) => member.close()))
      await Promise.all(readers.map((reader) => reader.done))
      expect(sorted(seenBy(readers))).toEqual(numbers(240))
      const committed = await cluster.committed(group, topic)
      expect([...committed.values()].map(({ offset }) => offset)).toEqual(Array(PARTITIONS).fill(40))
    },
  )

  it('T67 cooperative members keep what they keep, and revoke only what moves', async () => {
    const { group, topics } = await ordersAndGroup()
    const options = { group, topics, assignors: ['cooperative-sticky'] as const }
    await using first = memberOf(cluster, options)
    const events = recorded(first, 'assigned', 'revoked', 'lost')
    await first.ready()
    await using second = memberOf(cluster, options)
    await second.ready()
    await share([first, second], 3, 3)
    expect(events.map(([name, { partitions }]) => [name, partitions.length])).toEqual([
      ['assigned', 6],
      ['revoked', 3],
    ])
    const kept = new Set(first.partitions().map(partitionKey))
    for (const one of second.partitions()) expect(kept.has(partitionKey(one))).toBe(false)
  })

  it('eager members give everything up before they get their share', async () => {
    const { group, topics } = await ordersAndGroup()
    const options = { group, topics, assignors: ['range'] as const }
    await using first = memberOf(cluster, options)
    const events = recorded(first, 'assigned', 'revoked', 'lost')
    await first.ready()
    await using second = memberOf(cluster, options)
    await second.ready()
    await share([first, second], 3, 3)
    expect(events.map(([name, { partitions }]) => [name, partitions.length])).toEqual([
      ['assigned', 6],
      ['revoked', 6],
      ['assigned', 3],
    ])
  })

  it('a member moves from eager to cooperative in a group whose members know both', async () => {
    const { group, topics } = await ordersAndGroup()
    const options = { group, topics }
    const old = memberOf(cluster, { ...options, assignors: ['range', 'cooperative-sticky'] })
    await using bridge = memberOf(cluster, { ...options, assignors: ['range', 'cooperative-sticky'] })
    await Promise.all([old.ready(), bridge.ready()])
    await share([old, bridge], 3, 3)
    await old.close()
    await share([bridge], 6)
    await using fresh = memberOf(cluster, { ...options, assignors: ['cooperative-sticky'] })
    await fresh.ready()
    await share([bridge, fresh], 3, 3)
  })

  it('the revoked listener is awaited, and what it commits is where the next owner begins', async () => {
    const { topic, group, topics } = await ordersAndGroup(1)
    await produceNumbers(cluster, topic, 10)
    const assignors = ['range'] as const
    const first = memberOf(cluster, { group, topics, assignors, commit: 'manual' })
    let isFinished = false
    first.on('revoked', async () => {
      await first.commit()
      isFinished = true
    })
    expect(await take(first, 4)).toEqual([0, 1, 2, 3])
    // Two members and one partition: whoever has it in the end, nothing before 4 is read again.
    await using second = memberOf(cluster, { group, topics, assignors, commit: 'manual' })
    const reader = new Reader(second)
    await until('the first one was asked', () => isFinished, waitMs)
    await first.close()
    await read([reader], 6)
    expect(reader.seen).toEqual(numbers(6, 4))
    await reader.stop()
  })
})

describe('members that go', () => {
  it('T70 a member that is killed is replaced after its session, and only what it had not committed comes again', async () => {
    const { topic, group, topics } = await ordersAndGroup(2)
    await produceNumbers(cluster, topic, 40, { partitions: 2 })
    const options = { group, topics, sessionTimeoutMs: 1000, commit: { intervalMs: 20 } }
    await using survivor = memberOf(cluster, { ...options, assignors: ['range'] })
    await using killed = new KillableMember({
      ...cluster.client,
      ...options,
      assignors: ['range'],
      heartbeatMs: 50,
      from: 'beginning',
    })
    const reader = new Reader(survivor)
    await until('it has a partition', () => killed.assigned > 0, waitMs)
    await read([reader], 20)
    await until('it has read its own', () => killed.seen.length + reader.seen.length >= 40, waitMs)
    await killed.kill()
    await share([survivor], 2)
    const before = reader.seen.length
    await produceNumbers(cluster, topic, 20, { first: 40, partitions: 2 })
    await until('the new ones are read', () => reader.seen.includes(58) && reader.seen.includes(59), waitMs)
    const everything = new Set([...killed.seen, ...reader.seen])
    expect(sorted([...everything])).toEqual(numbers(60))
    expect(sorted(reader.seen.slice(before)).slice(-20)).toEqual(numbers(20, 40))
    expect(new Set(reader.seen).size).toBe(reader.seen.length) // the survivor itself reads nothing twice
    await reader.stop()
  })

  it('T81 members that are restarted one by one read everything once', async () => {
    const { topic, group, topics } = await ordersAndGroup()
    await produceNumbers(cluster, topic, 120, { partitions: PARTITIONS })
    let members = numbers(3).map(() => memberOf(cluster, { group, topics }))
    const readers = members.map((member) => new Reader(member))
    await share(members, 2, 2, 2)
    for (const [i, member] of members.entries()) {
      await member.close()
      const next = memberOf(cluster, { group, topics })
      members = members.with(i, next)
      readers.push(new Reader(next))
      await share(members, 2, 2, 2)
      await produceNumbers(cluster, topic, 60, { first: 120 + 60 * i, partitions: PARTITIONS })
    }
    await read(readers, 300)
    await Promise.all(members.map((member) => member.close()))
    expect(sorted(seenBy(readers))).toEqual(numbers(300))
  })

  it('T69 a static member that restarts keeps its partitions without a rebalance, and fences its older self', async () => {
    const { group, topics } = await ordersAndGroup()
    await using other = memberOf(cluster, { group, topics, instanceId: 'till-2' })
    const first = memberOf(cluster, { group, topics, instanceId: 'till-1' })
    await Promise.all([other.ready(), first.ready()])
    await share([other, first], 3, 3)
    const events = recorded(other, 'assigned', 'revoked', 'lost')
    const had = first.partitions()
    await first.close()
    expect(await cluster.describeGroup(group)).toMatchObject({ state: 'Stable', members: 2 })
    const second = memberOf(cluster, { group, topics, instanceId: 'till-1' })
    await second.ready()
    expect(second.partitions()).toEqual(had)
    const reading = new Reader(second)
    await using third = memberOf(cluster, { group, topics, instanceId: 'till-1' })
    await third.ready()
    await expect(reading.done).rejects.toMatchObject({ code: 'FENCED_INSTANCE_ID' })
    await second.close()
    expect(third.partitions()).toEqual(had)
    expect(events).toEqual([])
  })
})

describe('under load', () => {
  it.each(['range', 'cooperative-sticky'] as const)(
    'T81 members come and go by %s while records come in, and every record is read once and in order',
    async (assignor) => {
      const { topic, group, topics } = await ordersAndGroup()
      await using producer = producerOf(cluster)
      const writer = new Writer(producer, topic, PARTITIONS)
      const tracker = new Tracker(PARTITIONS)
      const join = () => {
        const member = memberOf(cluster, { group, topics, assignors: [assignor] })
        tracker.follow(member)
        return member
      }
      const members = [join(), join()]
      for (const round of numbers(4)) {
        members.push(join())
        await share(members, 2, 2, 2)
        await writer.more(100)
        // One leaves in the middle of its work, at once with another that joins every other time.
        const leaving = members.shift()?.close()
        if (round % 2 === 1) members.push(join())
        await leaving
        if (round % 2 === 1) await members.shift()?.close()
        await writer.more(100)
      }
      const sent = await writer.stop()
      await until('the group has read it all', () => tracker.hasAll(sent), waitMs)
      await Promise.all(members.map((member) => member.close()))
      await tracker.done
      expect(tracker.values).toEqual(sent.map((count) => numbers(count)))
    },
  )
})

describe('topics that grow', () => {
  it('T76 partitions that are added are shared out and read from their beginning', async () => {
    const { topic, group, topics } = await ordersAndGroup(2)
    const options = { group, topics, from: 'end', metadataMaxAgeMs: 100 } as const
    const members = [memberOf(cluster, options), memberOf(cluster, options)]
    const readers = members.map((member) => new Reader(member))
    await share(members, 1, 1)
    await Promise.all(members.map((member) => member.ready()))
    await cluster.addPartitions(topic, 4)
    await produceNumbers(cluster, topic, 40, { partitions: 4 })
    await read(readers, 40)
    await share(members, 2, 2)
    await Promise.all(members.map((member) => member.close()))
    expect(sorted(seenBy(readers))).toEqual(numbers(40))
  })

  it('a member that has nothing to do is ready, and takes over when the other one leaves', async () => {
    const { topic, group, topics } = await ordersAndGroup(1)
    const first = memberOf(cluster, { group, topics })
    await first.ready()
    await using second = memberOf(cluster, { group, topics })
    await second.ready()
    await until('they share', () => first.partitions().length + second.partitions().length === 1, waitMs)
    await first.close()
    await share([second], 1)
    await produceNumbers(cluster, topic, 3)
    expect(await take(second, 3)).toEqual([0, 1, 2])
  })
})
