import { describe, expect, it } from 'vitest'
import type { ClusterEvents } from '../../../src/client/cluster/index.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { errorCodes } from '../../../src/protocol/messages/error-table.js'
import { zeroUuid, type RequestOf } from '../../../src/protocol/wire/index.js'
import { Deferred } from '../../../src/util/deferred.js'
import { FakeServer, type ReceivedRequest } from '../../helpers/fake-server.js'
import { until } from '../../helpers/until.js'
import { cluster, heartbeat, metadata, serveMetadata, topicId, type FakeTopic } from './cluster-helpers.js'

function namesOf({ request }: ReceivedRequest): (string | null)[] | undefined {
  return (request as RequestOf<typeof Metadata>).topics?.map(({ name }) => name)
}

describe('metadata', () => {
  it('many who ask at once make one request, and a known topic makes none', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server], { a: { leaders: [[1, 0]] }, b: { leaders: [[1, 0]] } })
    const client = cluster([server])
    const deadline = client.deadline(5000)
    await client.connect(deadline)
    const asked = Array.from({ length: 50 }, (_, i) => client.topic(i % 2 === 0 ? 'a' : 'b', deadline))
    await Promise.all(asked)
    await client.topics(['a', 'b'], deadline)
    expect(server.requestsOf(Metadata).map(namesOf)).toEqual([[], ['a', 'b']])
    await client.close()
  })

  it('a refresh asks for all topics in use, and for those alone', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server], { a: { leaders: [[1, 0]] }, b: { leaders: [[1, 0]] } })
    const client = cluster([server])
    await client.topics(['a', 'b'], client.deadline(5000))
    await client.refreshed(client.deadline(5000))
    client.forget('a')
    expect(client.cachedTopic('a')).toBeUndefined()
    await client.refreshed(client.deadline(5000))
    expect(server.requestsOf(Metadata).map(namesOf)).toEqual([['a', 'b'], ['a', 'b'], ['b']])
    await client.close()
  })

  it('many calls of refresh() make one request, and one more when called while it runs', async () => {
    await using server = await FakeServer.start()
    const gate = new Deferred<void>()
    server.on(Metadata, async (request) => {
      if (server.requestsOf(Metadata).length === 2) await gate.promise
      return metadata([server], {}, request)
    })
    const client = cluster([server])
    await client.connect(client.deadline(5000))
    for (let i = 0; i < 20; i++) client.refresh('test')
    await until('the refresh runs', () => server.requestsOf(Metadata).length === 2)
    for (let i = 0; i < 20; i++) client.refresh('test')
    gate.resolve()
    await until('the second refresh runs', () => server.requestsOf(Metadata).length === 3)
    await client.refreshed(client.deadline(5000))
    expect(server.requestsOf(Metadata)).toHaveLength(4)
    await client.close()
  })

  it('is renewed when old', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server], { a: { leaders: [[1, 0]] } })
    const client = cluster([server], { metadataMaxAgeMs: 30 })
    await client.topic('a', client.deadline(5000))
    await until('it was renewed twice', () => server.requestsOf(Metadata).length >= 3)
    await client.close()
  })

  it('T09 a topic that does not exist yet is asked for until it does', async () => {
    await using server = await FakeServer.start()
    const states: FakeTopic[] = [{ errorCode: 3 }, { errorCode: 5 }, { leaders: [[1, 0]] }]
    server.on(Metadata, (request) => metadata([server], { orders: states.shift() ?? { leaders: [[1, 0]] } }, request))
    const client = cluster([server])
    const retries: ClusterEvents['retry'][] = []
    client.events.on('retry', (event) => retries.push(event))
    expect((await client.topic('orders', client.deadline(5000))).partitions).toHaveLength(1)
    expect(retries[0]).toMatchObject({ attempt: 1, error: { code: 'UNKNOWN_TOPIC_OR_PARTITION' } })
    expect(states).toEqual([])
    await client.close()
  })

  it('T09 a topic that never exists fails at the deadline, alone, and is asked for no more', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server], { orders: { leaders: [[1, 0]] } })
    const client = cluster([server], { allowAutoTopicCreation: false })
    const missing = client.topic('missing', client.deadline(60))
    const [outcome, orders] = await Promise.allSettled([missing, client.topic('orders', client.deadline(5000))])
    expect(outcome).toMatchObject({ reason: { code: 'TIMEOUT', cause: { code: 'UNKNOWN_TOPIC_OR_PARTITION' } } })
    expect(orders.status).toBe('fulfilled')
    await client.refreshed(client.deadline(5000))
    expect(namesOf(server.requestsOf(Metadata).at(-1)!)).toEqual(['orders'])
    expect(server.requestsOf(Metadata)[0]?.request).toMatchObject({ allowAutoTopicCreation: false })
    await client.close()
  })

  it('reports at once what does not exist when asked to, and keeps looking', async () => {
    await using server = await FakeServer.start()
    const topics: Record<string, FakeTopic> = { here: { leaders: [[1, 0]] } }
    server.on(Metadata, (request) => metadata([server], topics, request))
    const client = cluster([server])
    const found = await client.topics(['here', 'later'], client.deadline(5000), { missing: 'report' })
    expect(found.get('here')?.error).toBeUndefined()
    expect(found.get('later')?.error).toMatchObject({ code: 'UNKNOWN_TOPIC_OR_PARTITION' })
    topics['later'] = { leaders: [[1, 0]] }
    const appeared = new Deferred<void>()
    const stop = client.onMetadata(() => {
      if (client.cachedTopic('later')?.partitions.length === 1) appeared.resolve()
    })
    await appeared.promise
    stop()
    await client.close()
  })

  it('T10 a topic that is not allowed fails by itself and does not burden later requests', async () => {
    await using server = await FakeServer.start()
    const TOPIC_AUTHORIZATION_FAILED = 29
    serveMetadata([server], { secret: { errorCode: TOPIC_AUTHORIZATION_FAILED }, b: { leaders: [[1, 0]] } })
    const client = cluster([server])
    const deadline = client.deadline(5000)
    const both = await client.topics(['secret', 'b'], deadline)
    expect(both.get('secret')?.error).toMatchObject({ name: 'AuthorizationError', code: 'TOPIC_AUTHORIZATION_FAILED' })
    expect(both.get('b')?.error).toBeUndefined()
    await expect(client.topic('secret', deadline)).rejects.toMatchObject({ code: 'TOPIC_AUTHORIZATION_FAILED' })
    await client.refreshed(deadline)
    expect(namesOf(server.requestsOf(Metadata).at(-1)!)).toEqual(['b'])
    await client.close()
  })

  it('T17 a partition without leader is part of the answer, and looked for again soon', async () => {
    await using server = await FakeServer.start()
    let leaders: NonNullable<FakeTopic['leaders']> = [[1, 4], [-1, 5]] // prettier-ignore
    server.on(Metadata, (request) => metadata([server], { orders: { leaders } }, request))
    const client = cluster([server])
    const topic = await client.topic('orders', client.deadline(5000))
    expect(topic.partitions.map(({ leaderId }) => leaderId)).toEqual([1, -1])
    leaders = [[1, 4], [1, 6]] // prettier-ignore
    await until('the leader is known', () => client.cachedTopic('orders')?.partitions[1]?.leaderId === 1)
    await client.close()
  })

  it('T45 tells topic ids where the broker has them', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server], { new: { leaders: [[1, 0]] }, old: { leaders: [[1, 0]], topicId: zeroUuid } })
    const client = cluster([server])
    const topics = await client.topics(['new', 'old'], client.deadline(5000))
    expect(topics.get('old')?.topicId).toBe(zeroUuid)
    expect(client.topicName(topicId)).toBe('new')
    expect(client.topicName(zeroUuid)).toBeUndefined()
    await client.close()
  })

  it('T83 a topic that was deleted does not disturb requests about others', async () => {
    await using server = await FakeServer.start()
    const topics: Record<string, FakeTopic> = { gone: { leaders: [[1, 0]] }, stays: { leaders: [[1, 0]] } }
    server.on(Metadata, (request) => metadata([server], topics, request))
    const client = cluster([server])
    await client.topics(['gone', 'stays'], client.deadline(5000))
    delete topics['gone']
    await client.refreshed(client.deadline(5000))
    expect(client.cachedTopic('gone')?.error).toMatchObject({ code: 'UNKNOWN_TOPIC_OR_PARTITION' })
    expect((await client.topic('stays', client.deadline(5000))).partitions).toHaveLength(1)
    client.forget('gone')
    await client.refreshed(client.deadline(5000))
    expect(namesOf(server.requestsOf(Metadata).at(-1)!)).toEqual(['stays'])
    await client.close()
  })

  it('T07 a lost connection has the metadata renewed before anything is tried again', async () => {
    await using one = await FakeServer.start()
    await using two = await FakeServer.start()
    let leader = 1
    for (const server of [one, two]) {
      server.on(Metadata, (request) => metadata([one, two], { orders: { leaders: [[leader, leader]] } }, request))
    }
    one.on(Heartbeat, () => 'disconnect')
    two.on(Heartbeat, () => ({ errorCode: 0 }))
    const client = cluster([two])
    const lost: ClusterEvents['disconnected'][] = []
    client.events.on('disconnected', (event) => lost.push(event))
    await client.topic('orders', client.deadline(5000))
    leader = 2
    await client.retry('work', client.deadline(5000), async (deadline) => {
      const { leaderId } = client.cachedTopic('orders')!.partitions[0]!
      return client.send(leaderId, Heartbeat, heartbeat, { deadline })
    })
    expect(lost).toMatchObject([{ nodeId: 1, address: one.address, error: { code: 'CONNECTION_LOST' } }])
    expect(two.requestsOf(Heartbeat)).toHaveLength(1)
    await client.close()
  })

  it('T07 a broker can tell who leads now (KIP-951), and old news is not taken', async () => {
    await using one = await FakeServer.start()
    await using two = await FakeServer.start()
    one.on(Metadata, (request) => metadata([one], { orders: { leaders: [[1, 4]] } }, request))
    two.on(Heartbeat, () => ({ errorCode: 27 }))
    const client = cluster([one])
    await client.topic('orders', client.deadline(5000))
    const nodeEndpoints = [{ nodeId: 2, host: '127.0.0.1', port: two.port, rack: null }]
    expect(client.updateLeader('orders', 0, { leaderId: 2, leaderEpoch: 4, nodeEndpoints })).toBe(false)
    expect(client.updateLeader('orders', 0, { leaderId: 3, leaderEpoch: 9 })).toBe(false)
    expect(client.updateLeader('other', 0, { leaderId: 2, leaderEpoch: 5, nodeEndpoints })).toBe(false)
    expect(client.updateLeader('orders', 0, { leaderId: 2, leaderEpoch: 5, nodeEndpoints })).toBe(true)
    expect(client.cachedTopic('orders')?.partitions[0]).toMatchObject({ leaderId: 2, leaderEpoch: 5 })
    expect(await client.send(2, Heartbeat, heartbeat)).toMatchObject({ errorCode: 27 })
    await client.close()
  })

  it('an error about the whole request is thrown by its name', async () => {
    await using server = await FakeServer.start()
    server.on(Metadata, () => ({
      brokers: [],
      topics: [],
      errorCode: errorCodes.CLUSTER_AUTHORIZATION_FAILED,
    }))
    const client = cluster([server])
    await expect(client.connect(client.deadline(5000))).rejects.toMatchObject({ code: 'CLUSTER_AUTHORIZATION_FAILED' })
    await client.close()
  })

  it('a broker that does not know its cluster yet is asked again', async () => {
    await using server = await FakeServer.start()
    let count = 0
    server.on(Metadata, (request) => (++count < 3 ? { brokers: [], topics: [] } : metadata([server], {}, request)))
    const client = cluster([server])
    await client.connect(client.deadline(5000))
    expect([...client.brokers.keys()]).toEqual([1])
    await client.close()
  })
})
