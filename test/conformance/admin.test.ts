// The admin: topics, partitions, records, offsets and groups, as both kinds of broker know them.
import { describe, expect, it } from 'vitest'
import { Admin } from '../../src/client/admin/index.js'
import { until } from '../helpers/until.js'
import { hasReplicas, useCluster, waitMs } from './cluster.js'
import { memberOf, numbers, produceNumbers, producerOf, readAll, take, valueOf } from './clients.js'

const cluster = useCluster()
const adminOf = () => new Admin(cluster.client)

describe('topics', () => {
  it('T88 are created with partitions and configs, each with its own result', async () => {
    await using admin = adminOf()
    const [orders, audit, exists] = ['orders', 'audit', 'exists'].map((name) => cluster.name(name)) as [
      string,
      string,
      string,
    ]
    await admin.createTopic({ topic: exists, partitions: 1 })
    const results = await admin.createTopics([
      { topic: orders, partitions: 6, configs: { 'cleanup.policy': 'compact' } },
      exists,
      audit,
      { topic: cluster.name('replicated'), partitions: 1, replicationFactor: 99 },
      { topic: cluster.name('misspelt'), configs: { 'cleanup.polic': 'compact' } },
    ])
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      'TOPIC_ALREADY_EXISTS',
      undefined,
      'INVALID_REPLICATION_FACTOR',
      'INVALID_CONFIG',
    ])
    expect(results[1]).toMatchObject({ topic: exists, maybeDone: false })
    await using producer = producerOf(cluster)
    await expect(producer.send(orders, { value: 'no key' })).rejects.toMatchObject({ code: 'INVALID_RECORD' })
  })

  it('are described and listed, and deleted with what was in them', async () => {
    await using admin = adminOf()
    const topic = await cluster.createTopic('described', 3)
    const { partitions, isInternal, topicId } = await admin.describeTopic(topic)
    expect(isInternal).toBe(false)
    expect(topicId).toHaveLength(22)
    expect(partitions.map(({ partition }) => partition)).toEqual([0, 1, 2])
    for (const { leaderId, replicas, isr, partition } of partitions) {
      expect(leaderId).toBe(await cluster.leaderOf(topic, partition))
      expect(replicas).toContain(leaderId)
      expect(isr).toHaveLength(hasReplicas ? 3 : 1)
    }
    const listed = await admin.listTopics()
    expect(listed.find((one) => one.topic === topic)).toMatchObject({ partitionCount: 3, topicId })
    const missing = cluster.name('missing')
    const deleted = await admin.deleteTopics([topic, missing])
    expect(deleted.map(({ error }) => error?.code)).toEqual([undefined, 'UNKNOWN_TOPIC_OR_PARTITION'])
    expect((await admin.listTopics()).find((one) => one.topic === topic)).toBeUndefined()
    const described = await admin.describeTopics([topic])
    expect(described[0]?.error?.code).toBe('UNKNOWN_TOPIC_OR_PARTITION')
  })

  it('get more partitions, and never fewer', async () => {
    await using admin = adminOf()
    const topic = await cluster.createTopic('grows', 2)
    await admin.addPartitions({ topic, total: 5 })
    expect((await admin.describeTopic(topic)).partitions).toHaveLength(5)
    await expect(admin.addPartitions({ topic, total: 3 })).rejects.toMatchObject({ code: 'INVALID_PARTITIONS' })
    await produceNumbers(cluster, topic, 10, { partitions: 5 })
    expect(await readAll(cluster, topic)).toHaveLength(10)
  })
})

describe('records and offsets', () => {
  it('records are deleted up to an offset or all, and offsets tell where a partition begins and ends', async () => {
    await using admin = adminOf()
    const topic = await cluster.createTopic('shrinks', 2)
    const at = (i: number) => Date.UTC(2026, 0, 1, i)
    await using producer = producerOf(cluster)
    await producer.send(
      topic,
      numbers(20).map((i) => ({ value: String(i), partition: i % 2, timestamp: at(i) })),
    )
    expect(await admin.deleteRecords({ topic, partition: 0, before: 4 })).toMatchObject({ lowWatermark: 4 })
    const results = await admin.deleteRecords([
      { topic, partition: 1, before: 'end' },
      { topic, partition: 0, before: 11 },
      { topic, partition: 9, before: 0 },
    ])
    expect(results.map(({ error, lowWatermark }) => error?.code ?? lowWatermark)).toEqual([
      10,
      'OFFSET_OUT_OF_RANGE',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ])
    const offsets = async (place: 'beginning' | 'end' | Date) =>
      (await admin.listOffsets(topic, place)).map(({ offset }) => offset)
    expect(await offsets('beginning')).toEqual([4, 10])
    expect(await offsets('end')).toEqual([10, 10])
    expect(await offsets(new Date(at(13)))).toEqual([7, null])
    expect(await offsets(new Date(at(30)))).toEqual([null, null])
    expect((await readAll(cluster, topic)).map(valueOf)).toEqual([8, 10, 12, 14, 16, 18])
  })
})

describe('groups', () => {
  it('are listed and described while they run, and T89 deleted only when they are empty', async () => {
    await using admin = adminOf()
    const [topic, group] = [await cluster.createTopic('orders', 4), cluster.name('billing')]
    const member = memberOf(cluster, { group, topics: [topic], clientId: 'shop' })
    await member.ready()
    const stable = async () => (await admin.describeGroup(group)).state === 'Stable'
    await until('the group is stable', stable, waitMs)
    expect(await admin.describeGroup(group)).toMatchObject({
      group,
      type: 'classic',
      protocolType: 'consumer',
      assignor: 'range',
      coordinatorId: await cluster.coordinatorOf(group),
      members: [{ clientId: 'shop', instanceId: null, topics: [topic] }],
    })
    expect((await admin.describeGroup(group)).members[0]?.partitions).toEqual(member.partitions())
    const listed = async () => (await admin.listGroups()).groups.find((one) => one.group === group)
    expect(await listed()).toMatchObject({ protocolType: 'consumer', type: 'classic', state: 'Stable' })
    await expect(admin.deleteGroup(group)).rejects.toMatchObject({ code: 'NON_EMPTY_GROUP' })
    await member.close()
    const missing = cluster.name('missing')
    const results = await admin.deleteGroups([group, missing])
    expect(results.map(({ error }) => error?.code)).toEqual([undefined, 'GROUP_ID_NOT_FOUND'])
    expect(await listed()).toBeUndefined()
    await expect(admin.describeGroup(missing)).rejects.toMatchObject({ code: 'GROUP_ID_NOT_FOUND' })
  })

  it('T89 their committed offsets are read, moved while they are empty, and deleted', async () => {
    await using admin = adminOf()
    const [topic, group] = [await cluster.createTopic('orders', 2), cluster.name('moved')]
    await produceNumbers(cluster, topic, 20, { partitions: 2 })
    const first = memberOf(cluster, { group, topics: [topic] })
    await take(first, 20)
    const offset = { topic, partition: 0, offset: 3, metadata: 'by hand' }
    const refused = await admin.setGroupOffsets(group, [offset])
    expect(refused.map(({ error }) => error?.code)).toEqual(['UNKNOWN_MEMBER_ID'])
    const subscribed = await admin.deleteGroupOffsets(group, [{ topic, partition: 0 }])
    expect(subscribed.map(({ error }) => error?.code)).toEqual(['GROUP_SUBSCRIBED_TO_TOPIC'])
    await first.close()
    expect(await admin.listGroupOffsets(group)).toMatchObject([
      { topic, partition: 0, offset: 10, error: undefined },
      { topic, partition: 1, offset: 10 },
    ])
    expect((await admin.setGroupOffsets(group, [offset]))[0]?.error).toBeUndefined()
    expect(await cluster.committed(group, topic)).toEqual(
      new Map([
        [0, { offset: 3, metadata: 'by hand' }],
        [1, { offset: 10, metadata: '' }],
      ]),
    )
    const second = memberOf(cluster, { group, topics: [topic] })
    expect(await take(second, 7)).toEqual([6, 8, 10, 12, 14, 16, 18])
    await second.close()
    const deleted = await admin.deleteGroupOffsets(group, [{ topic, partition: 1 }])
    expect(deleted[0]?.error).toBeUndefined()
    const partitions = [0, 1].map((partition) => ({ topic, partition }))
    const left = await admin.listGroupOffsets(group, { partitions })
    expect(left.map((one) => one.offset)).toEqual([10, null])
  })
})
