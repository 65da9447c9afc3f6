// A group member alone: where it begins, what is done and committed, batches, rewinding, and how it leaves.
import { describe, expect, it } from 'vitest'
import { json, string, topic as typed } from '../../src/client/serde/index.js'
import { GroupMember } from '../../src/client/group/index.js'
import { until } from '../helpers/until.js'
import { useCluster, waitMs } from './cluster.js'
import { memberOf, numbers, produceNumbers, producerOf, Reader, recorded, sorted, take } from './clients.js'

const cluster = useCluster()

/** A topic with so many records, and a group that nobody else has. */
async function ordersAndGroup(count: number, partitions = 1) {
  const topic = await cluster.createTopic('orders', partitions)
  await produceNumbers(cluster, topic, count, { partitions })
  return { topic, group: cluster.name('billing'), topics: [topic] }
}

const offsetsOf = (committed: ReadonlyMap<number, { offset: number }>) =>
  [...committed].sort(([a], [b]) => a - b).map(([, { offset }]) => offset)

describe('commit and resume', () => {
  it('after a clean close the next member of the group goes on, with nothing lost and nothing twice', async () => {
    const { topic, group, topics } = await ordersAndGroup(200, 3)
    const seen: number[] = []
    for (const count of [50, 100, 50]) {
      await using member = memberOf(cluster, { group, topics })
      seen.push(...(await take(member, count)))
    }
    expect(sorted(seen)).toEqual(numbers(200))
    expect(offsetsOf(await cluster.committed(group, topic))).toEqual([67, 67, 66])
    expect(await cluster.describeGroup(group)).toMatchObject({ state: 'Empty', members: 0 })
  })

  it('T118 after a break the record in hand comes again, unless it is called done', async () => {
    const { topic, group, topics } = await ordersAndGroup(5)
    const next = async (each?: (record: { done(): void }) => void): Promise<number> => {
      for await (const record of member) {
        each?.(record)
        return record.offset
      }
      return -1
    }
    await using member = memberOf(cluster, { group, topics, commit: 'manual' })
    expect(await next()).toBe(0)
    expect(await next((record) => record.done())).toBe(0)
    expect(await next()).toBe(1)
    await member.commit()
    expect(offsetsOf(await cluster.committed(group, topic))).toEqual([1])
  })

  it('commits by interval, and by hand with a text that is kept', async () => {
    const { topic, group, topics } = await ordersAndGroup(20)
    await using member = memberOf(cluster, { group, topics, commit: { intervalMs: 50 } })
    await take(member, 7)
    await until('seven are committed', async () => offsetsOf(await cluster.committed(group, topic))[0] === 7, waitMs)
    for await (const record of member) {
      await member.commit(record, { metadata: 'grüße ✓' })
      break
    }
    expect(await cluster.committed(group, topic)).toEqual(new Map([[0, { offset: 8, metadata: 'grüße ✓' }]]))
  })

  it('commits nothing by itself where it is told to commit by hand', async () => {
    const { topic, group, topics } = await ordersAndGroup(20, 2)
    const first = memberOf(cluster, { group, topics, commit: 'manual' })
    await take(first, 10)
    await first.close()
    expect(await cluster.committed(group, topic)).toEqual(new Map())
    await using second = memberOf(cluster, { group, topics, commit: 'manual' })
    expect(sorted(await take(second, 20))).toEqual(numbers(20))
    await second.commit()
    expect(offsetsOf(await cluster.committed(group, topic))).toEqual([10, 10])
  })

  it('a batch is done when the next one is asked for', async () => {
    const { topic, group, topics } = await ordersAndGroup(100)
    await using member = memberOf(cluster, { group, topics, commit: 'manual' })
    const firsts: number[] = []
    for await (const batch of member.batches({ maxRecords: 30 })) {
      firsts.push(batch.firstOffset)
      if (firsts.length === 3) break
    }
    await member.commit()
    expect(firsts).toEqual([0, 30, 60])
    expect(offsetsOf(await cluster.committed(group, topic))).toEqual([60])
  })

  it('closing in the middle of a loop commits what is done, and not the record in hand', async () => {
    const { topic, group, topics } = await ordersAndGroup(100)
    const member = memberOf(cluster, { group, topics })
    let count = 0
    for await (const record of member) {
      expect(record.offset).toBe(count)
      if (++count === 10) await member.close()
    }
    expect(count).toBe(10)
    expect(offsetsOf(await cluster.committed(group, topic))).toEqual([9])
  })
})

describe('where a member begins', () => {
  it('from counts where the group has nothing committed, and never moves a group that has', async () => {
    const { topic, group, topics } = await ordersAndGroup(10)
    const late = memberOf(cluster, { group: cluster.name('late'), topics, from: 'end' })
    await late.ready()
    expect(late.position({ topic, partition: 0 })).toBe(10)
    await late.close()
    const at = memberOf(cluster, { group, topics, from: 4 })
    expect(await take(at, 2)).toEqual([4, 5])
    await at.close()
    await using again = memberOf(cluster, { group, topics, from: 'beginning' })
    expect(await take(again, 2)).toEqual([6, 7])
  })

  it('T40 a committed offset that the log does not hold any more goes on by the policy', async () => {
    const { topic, group, topics } = await ordersAndGroup(100)
    const first = memberOf(cluster, { group, topics })
    await take(first, 10)
    await first.close()
    await cluster.deleteRecords(topic, 0, 50)
    await using second = memberOf(cluster, { group, topics, outOfRange: 'beginning' })
    const resets = recorded(second, 'reset')
    expect(await take(second, 2)).toEqual([50, 51])
    expect(resets).toHaveLength(1)
  })

  it('rewinds to the beginning, an offset and a time, commits that, and tells the lag', async () => {
    const topic = await cluster.createTopic('hours')
    const group = cluster.name('rewinders')
    const at = (hour: number) => Date.UTC(2026, 0, 1, hour)
    await using producer = producerOf(cluster)
    await producer.send(
      topic,
      numbers(10).map((i) => ({ value: String(i), timestamp: at(i) })),
    )
    const member = memberOf(cluster, { group, topics: [topic] })
    expect(await take(member, 10)).toEqual(numbers(10))
    await member.rewind('beginning')
    expect(await take(member, 3)).toEqual([0, 1, 2])
    await member.rewind(7)
    expect(await take(member, 2)).toEqual([7, 8])
    await member.rewind(new Date(at(4)))
    expect(await take(member, 2)).toEqual([4, 5])
    expect(await member.lag()).toEqual([{ topic, partition: 0, position: 6, end: 10, lag: 4 }])
    await member.close()
    expect(offsetsOf(await cluster.committed(group, topic))).toEqual([6])
  })

  it('T52 pauses and seeks in the assigned event count', async () => {
    const { topic, group, topics } = await ordersAndGroup(10, 2)
    await using member = memberOf(cluster, { group, topics })
    member.on('assigned', () => {
      member.pause([{ topic, partition: 0 }])
      member.seek({ topic, partition: 1 }, 3)
    })
    expect(await take(member, 2)).toEqual([7, 9])
    member.resume()
    expect(await take(member, 5)).toEqual([0, 2, 4, 6, 8])
  })

  it('waits for a topic that does not exist yet', async () => {
    const topic = cluster.name('expected')
    const options = { group: cluster.name('waiting'), topics: [topic], metadataMaxAgeMs: 100 }
    await using member = memberOf(cluster, { ...options, allowAutoTopicCreation: false })
    await member.ready()
    expect(member.partitions()).toEqual([])
    const reader = new Reader(member)
    await produceNumbers(cluster, topic, 3) // creates it
    await until('they are read', () => reader.seen.length === 3, waitMs)
    await reader.stop()
  })
})

describe('staying in the group', () => {
  it('T59 a slow handler does not cost the member its place', async () => {
    const { group, topics } = await ordersAndGroup(2)
    await using member = memberOf(cluster, { group, topics, sessionTimeoutMs: 1000 })
    const events = recorded(member, 'lost', 'revoked')
    for await (const record of member) {
      if (record.offset === 1) break
      const began = performance.now()
      await until('the session timeout is over twice', () => performance.now() - began > 2000)
    }
    expect(events).toEqual([])
    expect(await cluster.describeGroup(group)).toMatchObject({ state: 'Stable', members: 1 })
  })

  it('T59 beyond the processing limit it leaves, tells so, and joins again with the next record asked for', async () => {
    const { group, topics } = await ordersAndGroup(2)
    await using member = memberOf(cluster, { group, topics, maxProcessingMs: 300 })
    const events = recorded(member, 'stalled', 'lost')
    const offsets: number[] = []
    for await (const record of member) {
      offsets.push(record.offset)
      if (offsets.length === 1)
        await until('nobody is in the group', async () => (await cluster.describeGroup(group)).members === 0, waitMs)
      if (offsets.length === 3) break
    }
    expect(offsets).toEqual([0, 0, 1])
    expect(events.map(([name]) => name)).toEqual(['stalled', 'lost'])
  })

  it('T70 closing leaves the group at once, and T118 ends a waiting iteration', async () => {
    const { group, topics } = await ordersAndGroup(0)
    const member = memberOf(cluster, { group, topics })
    const reader = new Reader(member)
    await member.ready()
    expect(await cluster.describeGroup(group)).toMatchObject({ state: 'Stable', members: 1 })
    await member.close()
    await reader.done
    await until('nobody is in the group', async () => (await cluster.describeGroup(group)).members === 0, waitMs)
    await expect(member.ready()).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('decodes by the types of its topic', async () => {
    const name = await cluster.createTopic('typed')
    const orders = typed(name, { key: string(), value: json<{ total: number }>() })
    await using producer = producerOf(cluster)
    await producer.send(orders, { key: 'c-7', value: { total: 12 } })
    const options = { ...cluster.client, group: cluster.name('typed'), topics: [orders], from: 'beginning' } as const
    await using member = new GroupMember(options)
    for await (const record of member) {
      expect([record.key, record.value.total]).toEqual(['c-7', 12])
      break
    }
  })
})
