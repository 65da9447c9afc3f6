// Faults on the wire: what they strike, where their errors stand, what else they do.
import { describe, expect, test } from 'vitest'
import { startBroker, type BrokerCluster, type FaultSpec } from '../../src/broker.js'
import { CreateTopics } from '../../src/protocol/messages/create-topics.js'
import { DescribeConfigs } from '../../src/protocol/messages/describe-configs.js'
import { errorCodes } from '../../src/protocol/messages/error-table.js'
import { Fetch } from '../../src/protocol/messages/fetch.js'
import { FindCoordinator } from '../../src/protocol/messages/find-coordinator.js'
import { ListOffsets } from '../../src/protocol/messages/list-offsets.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { OffsetCommit } from '../../src/protocol/messages/offset-commit.js'
import { OffsetFetch } from '../../src/protocol/messages/offset-fetch.js'
import { Produce } from '../../src/protocol/messages/produce.js'
import { apis, type ApiName } from '../../src/protocol/messages/registry.js'
import type { RecordBatch } from '../../src/protocol/records/index.js'
import { splitBatches } from '../../src/protocol/records/index.js'
import { batchOf, fetch, fetchOf, produce, topicIdOf, valuesIn } from './produce-fetch-lab.js'
import { WireClient } from './wire-client.js'

async function lab(): Promise<{ kafka: BrokerCluster; client: WireClient } & AsyncDisposable> {
  const kafka = await startBroker({ topics: { t: 2, u: 1 } })
  const client = await WireClient.open(kafka.brokers[0]!)
  const close = async () => {
    await client.close()
    await kafka.close()
  }
  return { kafka, client, [Symbol.asyncDispose]: close }
}

describe('which requests', () => {
  test('times, after, hits and remove', async () => {
    await using l = await lab()
    const { kafka, client } = l
    const fault = kafka.faults.add({ api: 'Produce', after: 1, times: 2, error: 'REQUEST_TIMED_OUT' })
    const codes: number[] = []
    for (let i = 0; i < 5; i++) codes.push((await produce(client, 't', 0, batchOf([`${i}`]))).errorCode)
    expect(codes).toEqual([0, 7, 7, 0, 0])
    expect(fault.hits).toBe(2)
    const other = kafka.faults.add({ api: 'Produce', error: 'REQUEST_TIMED_OUT' })
    other.remove()
    expect((await produce(client, 't', 0, batchOf(['x']))).errorCode).toBe(0)
    expect(other.hits).toBe(0)
  })

  test('T09 one after another: the first one added strikes first', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Metadata', topic: 'new', times: 1, error: 'UNKNOWN_TOPIC_OR_PARTITION' })
    kafka.faults.add({ api: 'Metadata', topic: 'new', times: 1, error: 'LEADER_NOT_AVAILABLE' })
    const codes: number[] = []
    for (let i = 0; i < 4; i++) {
      const { topics } = await client.send(Metadata, { topics: [{ name: 'new' }, { name: 't' }] })
      expect(topics.find(({ name }) => name === 't')!.errorCode).toBe(0)
      codes.push(topics.find(({ name }) => name === 'new')!.errorCode)
    }
    // The third creates the topic, since nothing was processed before.
    expect(codes).toEqual([3, 5, 3, 0])
  })

  test('by broker and client id', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    kafka.faults.add({ api: 'Metadata', broker: 2, client: 'bad', error: 'TOPIC_AUTHORIZATION_FAILED' })
    const code = async (address: string, id: string) => {
      await using client = await WireClient.open(address, id)
      return (await client.send(Metadata, { topics: [{ name: 't' }] })).topics[0]!.errorCode
    }
    expect(await code(kafka.brokers[0]!, 'bad')).toBe(0)
    expect(await code(kafka.brokers[1]!, 'good')).toBe(0)
    expect(await code(kafka.brokers[1]!, 'bad')).toBe(errorCodes.TOPIC_AUTHORIZATION_FAILED)
  })

  test.each([
    [{ api: 'Producer', error: 'REQUEST_TIMED_OUT' }, /api must be one of/],
    [{ error: 'REQUEST_TIMED_OUT' }, /api is required/],
    [{ api: 'Produce' }, /one of error, delayMs, drop, disconnect, corrupt and throttleMs is required/],
    [{ api: 'Produce', error: 'NO_SUCH_ERROR' }, /error must be the name of one of Kafka's errors/],
    [{ api: 'Produce', partition: 1, drop: true }, /partition needs a topic/],
    [{ api: 'JoinGroup', topic: 't', drop: true }, /a JoinGroup request names no topics, so topic would never match/],
    [{ api: 'Produce', corrupt: true }, /corrupt is for Fetch only/],
    [{ api: 'Produce', drop: true, afterProcessing: true }, /afterProcessing needs an error/],
  ])('%j throws with what is allowed', async (spec, message) => {
    await using kafka = await startBroker()
    expect(() => kafka.faults.add(spec as FaultSpec)).toThrow(message)
  })
})

describe('where an error stands', () => {
  test('T47 Produce: the struck partition fails and is not written, the others are', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Produce', topic: 't', partition: 1, error: 'NOT_LEADER_OR_FOLLOWER' })
    const topicData = [
      { name: 't', partitionData: [0, 1].map((index) => ({ index, records: batchOf(['x']) })) },
      { name: 'u', partitionData: [{ index: 0, records: batchOf(['y']) }] },
    ]
    const { responses } = await client.send(Produce, { acks: -1, timeoutMs: 0, topicData }, 12)
    const codes = responses.flatMap(({ name, partitionResponses }) =>
      partitionResponses.map((p) => `${name}-${p.index}: ${p.errorCode}`),
    )
    expect(codes.sort()).toEqual(['t-0: 0', 't-1: 6', 'u-0: 0'])
    expect((await kafka.topic('t').records()).map(({ partition }) => partition)).toEqual([0])
  })

  test('T06 Produce with afterProcessing: written and refused all the same', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({
      api: 'Produce',
      topic: 't',
      times: 1,
      error: 'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
      afterProcessing: true,
    })
    const batch = () => batchOf(['x'], { producerId: 5, producerEpoch: 0, baseSequence: 0 })
    expect(await produce(client, 't', 0, batch())).toMatchObject({ errorCode: 20, baseOffset: -1 })
    expect((await kafka.topic('t').records()).length).toBe(1)
    expect(await produce(client, 't', 0, batch())).toMatchObject({ errorCode: 0, baseOffset: 0 })
  })

  test('Produce by topic id, and with acks=0', async () => {
    await using l = await lab()
    const { kafka, client } = l
    const topicId = await topicIdOf(client, 't')
    kafka.faults.add({ api: 'Produce', topic: 't', error: 'NOT_LEADER_OR_FOLLOWER' })
    const topicData = [{ topicId, partitionData: [{ index: 0, records: batchOf(['x']) }] }]
    const { responses } = await client.send(Produce, { acks: 1, timeoutMs: 0, topicData })
    expect(responses).toMatchObject([{ topicId, partitionResponses: [{ index: 0, errorCode: 6 }] }])
    client.post(Produce, { acks: 0, timeoutMs: 0, topicData })
    await client.closed
    expect(await kafka.topic('t').records()).toEqual([])
    kafka.faults.clear()
    kafka.faults.add({ api: 'Produce', error: 'NOT_LEADER_OR_FOLLOWER', afterProcessing: true })
    await using other = await WireClient.open(kafka.brokers[0]!)
    other.post(Produce, { acks: 0, timeoutMs: 0, topicData })
    await other.closed
    expect((await kafka.topic('t').records()).length).toBe(1)
  })

  test('Fetch: at the partition, also of a session that names it no more; at once, not after the wait', async () => {
    await using l = await lab()
    const { kafka, client } = l
    await produce(client, 't', 0, batchOf(['x']))
    const { sessionId } = await fetch(
      client,
      fetchOf('t', [{ partition: 0 }, { partition: 1 }], { sessionId: 0, sessionEpoch: 0 }),
    )
    const fault = kafka.faults.add({
      api: 'Fetch',
      topic: 't',
      partition: 1,
      times: 1,
      error: 'NOT_LEADER_OR_FOLLOWER',
    })
    const answer = await fetch(client, fetchOf('t', [], { sessionId, sessionEpoch: 1, topics: [], maxWaitMs: 60_000 }))
    expect(valuesIn(answer, 0)).toEqual(['x'])
    expect(answer.responses[0]!.partitions.find((p) => p.partitionIndex === 1)).toMatchObject({
      errorCode: 6,
      highWatermark: -1,
      logStartOffset: -1,
    })
    expect(fault.hits).toBe(1)
  })

  test('Fetch: session errors stand at the top', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Fetch', error: 'FETCH_SESSION_ID_NOT_FOUND' })
    expect(await fetch(client, fetchOf('t', [{ partition: 0 }]))).toMatchObject({ errorCode: 70, responses: [] })
  })

  test('ListOffsets, Metadata and DescribeConfigs', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'ListOffsets', topic: 't', partition: 1, error: 'LEADER_NOT_AVAILABLE' })
    kafka.faults.add({ api: 'Metadata', topic: 't', partition: 0, error: 'LEADER_NOT_AVAILABLE' })
    kafka.faults.add({ api: 'DescribeConfigs', topic: 'u', error: 'TOPIC_AUTHORIZATION_FAILED' })
    const offsets = await client.send(ListOffsets, {
      replicaId: -1,
      topics: [{ name: 't', partitions: [0, 1].map((partitionIndex) => ({ partitionIndex, timestamp: -1 })) }],
    })
    expect(offsets.topics[0]!.partitions).toMatchObject([
      { partitionIndex: 0, errorCode: 0, offset: 0 },
      { partitionIndex: 1, errorCode: 5, offset: -1 },
    ])
    const metadata = await client.send(Metadata, { topics: null })
    expect(metadata.topics.find(({ name }) => name === 't')!.partitions).toMatchObject([
      { errorCode: 5, leaderId: -1 },
      { errorCode: 0, leaderId: 1 },
    ])
    const resources = ['t', 'u'].map((resourceName) => ({ resourceType: 2, resourceName, configurationKeys: [] }))
    const { results } = await client.send(DescribeConfigs, { resources })
    expect(results.map(({ resourceName, resourceType, errorCode }) => [resourceName, resourceType, errorCode])).toEqual(
      [
        ['t', 2, 0],
        ['u', 2, 29],
      ],
    )
  })

  test('CreateTopics: the others are created', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'CreateTopics', topic: 'b', error: 'THROTTLING_QUOTA_EXCEEDED' })
    const topics = ['a', 'b'].map((name) => ({
      name,
      numPartitions: 1,
      replicationFactor: 1,
      assignments: [],
      configs: [],
    }))
    const answer = await client.send(CreateTopics, { topics })
    expect(answer.topics.map(({ name, errorCode }) => [name, errorCode])).toEqual([
      ['a', 0],
      ['b', 89],
    ])
    expect(kafka.topicNames()).toEqual(['t', 'u', 'a'])
  })

  test.each([1, 2, 7, 8, 9])('OffsetFetch and OffsetCommit in version %i and the like', async (version) => {
    await using l = await lab()
    const { kafka, client } = l
    const commit = () =>
      client.send(
        OffsetCommit,
        {
          groupId: 'g',
          memberId: '',
          topics: [
            {
              name: 't',
              partitions: [0, 1].map((partitionIndex) => ({
                partitionIndex,
                committedOffset: 3,
                committedMetadata: '',
              })),
            },
          ],
        },
        9,
      )
    kafka.faults.add({ api: 'OffsetCommit', topic: 't', partition: 1, times: 1, error: 'OFFSET_METADATA_TOO_LARGE' })
    expect((await commit()).topics[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([0, 12])
    const topics = [{ name: 't', partitionIndexes: [0, 1] }]
    const ask = () =>
      client.send(
        OffsetFetch,
        version >= 8 ? { groups: [{ groupId: 'g', topics }] } : { groupId: 'g', topics },
        version,
      )
    const ofPartition = kafka.faults.add({
      api: 'OffsetFetch',
      topic: 't',
      partition: 0,
      error: 'UNSTABLE_OFFSET_COMMIT',
    })
    const part = await ask()
    const partitions = version >= 8 ? part.groups[0]!.topics[0]!.partitions : part.topics[0]!.partitions
    expect(partitions.map(({ errorCode, committedOffset }) => [errorCode, committedOffset])).toEqual([
      [88, -1],
      [0, -1],
    ])
    ofPartition.remove()
    kafka.faults.add({ api: 'OffsetFetch', error: 'NOT_COORDINATOR' })
    const whole = await ask()
    if (version >= 8) expect(whole.groups).toMatchObject([{ groupId: 'g', topics: [], errorCode: 16 }])
    else if (version >= 2) expect(whole).toMatchObject({ errorCode: 16, topics: [] })
    else expect(whole.topics[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([16, 16])
  })

  test.each([1, 3, 4, 6])('FindCoordinator in version %i', async (version) => {
    await using l = await lab()
    l.kafka.faults.add({ api: 'FindCoordinator', error: 'COORDINATOR_NOT_AVAILABLE' })
    const answer = await l.client.send(
      FindCoordinator,
      version < 4 ? { key: 'g' } : { coordinatorKeys: ['g', 'h'] },
      version,
    )
    if (version < 4) expect(answer).toMatchObject({ errorCode: 15, nodeId: -1 })
    else
      expect(answer.coordinators.map(({ key, errorCode }) => [key, errorCode])).toEqual([
        ['g', 15],
        ['h', 15],
      ])
  })

  const requests: Partial<Record<ApiName, object>> = {
    AlterConfigs: { resources: [{ resourceType: 2, resourceName: 't', configs: [] }], validateOnly: false },
    ApiVersions: { clientSoftwareName: 'a', clientSoftwareVersion: '1' },
    CreatePartitions: { topics: [{ name: 't', count: 9, assignments: null }], timeoutMs: 0, validateOnly: false },
    DeleteGroups: { groupsNames: ['g'] },
    DeleteRecords: { topics: [{ name: 't', partitions: [{ partitionIndex: 0, offset: 0 }] }], timeoutMs: 0 },
    DeleteTopics: { topics: [{ name: 't', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }], timeoutMs: 0 },
    DescribeCluster: { includeClusterAuthorizedOperations: false },
    DescribeGroups: { groups: ['g'] },
    DescribeTopicPartitions: { topics: [{ name: 't' }] },
    Heartbeat: { groupId: 'g', generationId: 1, memberId: 'm' },
    IncrementalAlterConfigs: { resources: [{ resourceType: 2, resourceName: 't', configs: [] }], validateOnly: false },
    InitProducerId: { transactionalId: null, transactionTimeoutMs: 0 },
    JoinGroup: { groupId: 'g', sessionTimeoutMs: 9000, memberId: '', protocolType: 'consumer', protocols: [] },
    LeaveGroup: { groupId: 'g', members: [] },
    ListGroups: {},
    OffsetDelete: { groupId: 'g', topics: [{ name: 't', partitions: [{ partitionIndex: 0 }] }] },
    OffsetForLeaderEpoch: { topics: [{ topic: 't', partitions: [{ partition: 0, leaderEpoch: 0 }] }] },
    SyncGroup: { groupId: 'g', generationId: 1, memberId: 'm', assignments: [] },
  }
  test.each(Object.entries(requests) as [ApiName, object][])(
    '%s: in every version the answer carries the code',
    async (name, request) => {
      await using l = await lab()
      l.kafka.faults.add({ api: name, error: 'CLUSTER_AUTHORIZATION_FAILED' })
      const api = apis[name]
      const answer = await l.client.send(api, request)
      expect(JSON.stringify(answer)).toContain('"errorCode":31')
      expect(l.kafka.topicNames()).toEqual(['t', 'u'])
      expect(l.kafka.topic('t').partitionCount).toBe(2)
    },
  )
})

describe('what else they do', () => {
  test('delayMs holds the answer back by the clock of the broker; the request is processed', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Produce', times: 1, delayMs: 60_000 })
    const answer = produce(client, 't', 0, batchOf(['x']))
    await expect.poll(async () => (await kafka.topic('t').records()).length).toBe(1)
    const later = client.send(Metadata, { topics: [] })
    kafka.clock.advance(59_999)
    expect(kafka.requests.map(({ api }) => api)).toEqual(['Produce'])
    kafka.clock.advance(1)
    expect((await answer).errorCode).toBe(0)
    expect((await later).brokers.length).toBe(1)
  })

  test('T02 drop: processed, never answered, and the connection stays silent', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Produce', times: 1, drop: true })
    const lost = expect(produce(client, 't', 0, batchOf(['x']))).rejects.toThrow('closed')
    await expect.poll(async () => (await kafka.topic('t').records()).length).toBe(1)
    client.post(Metadata, { topics: [] })
    await using other = await WireClient.open(kafka.brokers[0]!)
    await other.send(Metadata, { topics: [] })
    expect(kafka.requests.map(({ api }) => api)).toEqual(['Produce', 'Metadata'])
    await client.close()
    await lost
  })

  test.each([
    [true, 0],
    ['before', 0],
    ['after', 1],
  ] as const)('disconnect: %j leaves %i records', async (disconnect, count) => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Produce', times: 1, disconnect })
    await expect(produce(client, 't', 0, batchOf(['x']))).rejects.toThrow('closed')
    expect((await kafka.topic('t').records()).length).toBe(count)
  })

  test('T38 corrupt: the struck partition has a wrong checksum, the log does not', async () => {
    await using l = await lab()
    const { kafka, client } = l
    await produce(client, 't', 0, batchOf(['x']))
    await produce(client, 't', 1, batchOf(['y']))
    kafka.faults.add({ api: 'Fetch', topic: 't', partition: 0, times: 1, corrupt: true })
    const isValid = async () => {
      const answer = await client.send(Fetch, fetchOf('t', [{ partition: 0 }, { partition: 1 }]), 12)
      return answer.responses[0]!.partitions.map(({ records }) =>
        splitBatches(records!, { topic: 't', partition: 0 }).every((batch: RecordBatch) => batch.isCrcValid()),
      )
    }
    expect(await isValid()).toEqual([false, true])
    expect(await isValid()).toEqual([true, true])
  })

  test('T24 B13 throttleMs: answered at once, then the connection is not read for as long', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Metadata', times: 1, throttleMs: 2000 })
    expect((await client.send(Metadata, { topics: [] })).throttleTimeMs).toBe(2000)
    const next = client.send(Metadata, { topics: [] })
    await using other = await WireClient.open(kafka.brokers[0]!)
    await other.send(Metadata, { topics: [] })
    expect(kafka.requests.length).toBe(2)
    kafka.clock.advance(2000)
    expect((await next).throttleTimeMs).toBe(0)
  })

  test('an error with a delay, and two errors for two partitions', async () => {
    await using l = await lab()
    const { kafka, client } = l
    kafka.faults.add({ api: 'Produce', topic: 't', partition: 0, error: 'REQUEST_TIMED_OUT' })
    kafka.faults.add({ api: 'Produce', topic: 't', partition: 1, error: 'NOT_LEADER_OR_FOLLOWER' })
    kafka.faults.add({ api: 'Produce', delayMs: 1000 })
    const topicData = [{ name: 't', partitionData: [0, 1].map((index) => ({ index, records: batchOf(['x']) })) }]
    const answer = client.send(Produce, { acks: -1, timeoutMs: 0, topicData }, 12)
    await expect.poll(() => kafka.requests.length).toBe(1)
    kafka.clock.advance(1000)
    const { partitionResponses } = (await answer).responses[0]!
    expect(partitionResponses.map(({ errorCode }) => errorCode)).toEqual([7, 6])
  })
})
