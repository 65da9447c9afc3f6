// Metadata and the administration of topics: creating, deleting, growing, describing.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { CreatePartitions } from '../../src/protocol/messages/create-partitions.js'
import { CreateTopics } from '../../src/protocol/messages/create-topics.js'
import { DeleteTopics } from '../../src/protocol/messages/delete-topics.js'
import { DescribeCluster } from '../../src/protocol/messages/describe-cluster.js'
import { DescribeTopicPartitions } from '../../src/protocol/messages/describe-topic-partitions.js'
import { errorCodes, type ErrorName } from '../../src/protocol/messages/error-table.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { zeroUuid, type RequestInput, type ResponseOf } from '../../src/protocol/wire/index.js'
import { topicIdOf } from './produce-fetch-lab.js'
import { WireClient } from './wire-client.js'

type NewTopic = RequestInput<typeof CreateTopics>['topics'][number]

const newTopic = (name: string, more: Partial<NewTopic> = {}): NewTopic => ({
  name,
  numPartitions: 1,
  replicationFactor: 1,
  assignments: [],
  configs: [],
  ...more,
})

describe('Metadata (B11)', () => {
  test('null asks for all topics, an empty list for none; in version 0 the empty list is all', async () => {
    await using kafka = await startBroker({ topics: { a: 1, b: 2 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const names = async (topics: [] | null, version: number) =>
      (await client.send(Metadata, { topics }, version)).topics.map(({ name }) => name)
    expect(await names(null, 13)).toEqual(['a', 'b'])
    expect(await names([], 13)).toEqual([])
    expect(await names([], 1)).toEqual([])
    expect(await names([], 0)).toEqual(['a', 'b'])
  })

  test('T09 asking for an unknown topic creates it, with the broker defaults; first it is still unknown, then it is there', async () => {
    await using kafka = await startBroker({ config: { 'num.partitions': 3 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const ask = async () => (await client.send(Metadata, { topics: [{ name: 'new' }] })).topics[0]!
    expect(await ask()).toMatchObject({ errorCode: errorCodes.UNKNOWN_TOPIC_OR_PARTITION, partitions: [] })
    expect(await ask()).toMatchObject({ errorCode: 0, name: 'new', partitions: [{}, {}, {}] })
  })

  test.each([
    ['the client does not want it', {}, false, 'UNKNOWN_TOPIC_OR_PARTITION'],
    ['the broker does not', { autoCreateTopics: false }, true, 'UNKNOWN_TOPIC_OR_PARTITION'],
  ] as const)('nothing is created when %s', async (_who, options, allowAutoTopicCreation, code) => {
    await using kafka = await startBroker(options)
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { topics } = await client.send(Metadata, { topics: [{ name: 'new' }], allowAutoTopicCreation })
    expect(topics[0]!.errorCode).toBe(errorCodes[code])
    expect(kafka.topicNames()).toEqual([])
  })

  test.each(['', '.', '..', 'a b', 'ä', 'x'.repeat(250)])('the name %j is not legal', async (name) => {
    await using kafka = await startBroker()
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { topics } = await client.send(Metadata, { topics: [{ name }] })
    expect(topics[0]!.errorCode).toBe(errorCodes.INVALID_TOPIC_EXCEPTION)
    expect(kafka.topicNames()).toEqual([])
  })

  test('by id; an unknown id has its own error', async () => {
    await using kafka = await startBroker({ topics: { __proto__x: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const topicId = await topicIdOf(client, '__proto__x')
    const { topics } = await client.send(Metadata, {
      topics: [
        { topicId, name: null },
        { topicId: 'abcdefghijklmnopqrstuw', name: null },
      ],
    })
    expect(topics[0]).toMatchObject({ errorCode: 0, name: '__proto__x', topicId })
    expect(topics[1]).toMatchObject({ errorCode: errorCodes.UNKNOWN_TOPIC_ID, name: null })
  })

  test('B17 leaders are spread over the brokers; the controller is one of them', async () => {
    await using kafka = await startBroker({ brokers: [{ rack: 'a' }, { rack: 'b' }, {}], topics: { t: 6 } })
    await using client = await WireClient.open(kafka.brokers[1]!)
    const { brokers, controllerId, topics } = await client.send(Metadata, { topics: [{ name: 't' }] })
    expect(brokers.map(({ nodeId, rack }) => [nodeId, rack])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, null],
    ])
    expect(brokers.map(({ nodeId }) => nodeId)).toContain(controllerId)
    const leaders = topics[0]!.partitions.map(({ leaderId }) => leaderId)
    expect(leaders.sort()).toEqual([1, 1, 2, 2, 3, 3])
    expect(
      topics[0]!.partitions.every(
        (p) => p.replicaNodes.join() === `${p.leaderId}` && p.isrNodes.join() === `${p.leaderId}`,
      ),
    ).toBe(true)
  })

  test.each([0, 1, 4, 7, 9, 12, 13])('version %i has leaders and replicas', async (version) => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { topics } = await client.send(Metadata, { topics: [{ name: 't' }] }, version)
    expect(topics[0]!.partitions[0]).toMatchObject({ errorCode: 0, leaderId: 1, replicaNodes: [1], isrNodes: [1] })
  })
})

describe('CreateTopics', () => {
  const cases: [what: string, topic: NewTopic, code: ErrorName][] = [
    ['an existing name', newTopic('taken'), 'TOPIC_ALREADY_EXISTS'],
    ['an illegal name', newTopic('a/b'), 'INVALID_TOPIC_EXCEPTION'],
    ['a name that differs in . and _ alone', newTopic('a_b'), 'INVALID_TOPIC_EXCEPTION'],
    ['no partitions', newTopic('t', { numPartitions: 0 }), 'INVALID_PARTITIONS'],
    ['no replicas', newTopic('t', { replicationFactor: 0 }), 'INVALID_REPLICATION_FACTOR'],
    ['two replicas', newTopic('t', { replicationFactor: 2 }), 'INVALID_REPLICATION_FACTOR'],
    ['more replicas than brokers', newTopic('t', { replicationFactor: 3 }), 'INVALID_REPLICATION_FACTOR'],
    ['an unknown config', newTopic('t', { configs: [{ name: 'no.such', value: '1' }] }), 'INVALID_CONFIG'],
    ['a bad config', newTopic('t', { configs: [{ name: 'retention.ms', value: 'soon' }] }), 'INVALID_CONFIG'],
    ['a config that is null', newTopic('t', { configs: [{ name: 'retention.ms', value: null }] }), 'INVALID_CONFIG'],
    [
      'an assignment beside a count',
      newTopic('t', { replicationFactor: -1, assignments: [{ partitionIndex: 0, brokerIds: [1] }] }),
      'INVALID_REQUEST',
    ],
    [
      'an assignment to an unknown broker',
      newTopic('t', { numPartitions: -1, replicationFactor: -1, assignments: [{ partitionIndex: 0, brokerIds: [9] }] }),
      'INVALID_REPLICA_ASSIGNMENT',
    ],
    [
      'an assignment with a gap',
      newTopic('t', { numPartitions: -1, replicationFactor: -1, assignments: [{ partitionIndex: 1, brokerIds: [1] }] }),
      'INVALID_REPLICA_ASSIGNMENT',
    ],
  ]
  test.each(cases)('%s is refused with its code and a reason', async (_what, topic, code) => {
    await using kafka = await startBroker({ brokers: 2, topics: { taken: 1, 'a.b': 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { topics } = await client.send(CreateTopics, { topics: [topic] })
    expect(topics[0]).toMatchObject({ name: topic.name, errorCode: errorCodes[code], topicId: zeroUuid })
    expect(topics[0]!.errorMessage).toBeTruthy()
    expect(kafka.topicNames()).toEqual(['taken', 'a.b'])
  })

  test('T88 one of three exists: two are created; one named twice is refused', async () => {
    await using kafka = await startBroker({ topics: { b: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { topics } = await client.send(CreateTopics, {
      topics: ['a', 'b', 'c', 'd', 'd'].map((name) => newTopic(name)),
    })
    const codes = new Map(topics.map(({ name, errorCode }) => [name, errorCode]))
    expect([...codes]).toEqual([
      ['a', 0],
      ['b', errorCodes.TOPIC_ALREADY_EXISTS],
      ['c', 0],
      ['d', errorCodes.INVALID_REQUEST],
    ])
    expect(kafka.topicNames()).toEqual(['b', 'a', 'c'])
  })

  test('defaults, assignments and configs; the answer says what was made', async () => {
    await using kafka = await startBroker({ brokers: 2, config: { 'num.partitions': 5 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { topics } = await client.send(CreateTopics, {
      topics: [
        newTopic('byDefault', {
          numPartitions: -1,
          replicationFactor: -1,
          configs: [{ name: 'retention.ms', value: '1000' }],
        }),
        newTopic('placed', {
          numPartitions: -1,
          replicationFactor: -1,
          assignments: [
            { partitionIndex: 1, brokerIds: [2] },
            { partitionIndex: 0, brokerIds: [2] },
          ],
        }),
      ],
    })
    expect(topics[0]).toMatchObject({ errorCode: 0, numPartitions: 5, replicationFactor: 1 })
    expect(topics[0]!.configs!.find(({ name }) => name === 'retention.ms')).toMatchObject({
      value: '1000',
      configSource: 1,
    })
    expect(topics[0]!.configs!.find(({ name }) => name === 'segment.bytes')).toMatchObject({
      value: '1073741824',
      configSource: 5,
    })
    expect(topics[0]!.topicId).toBe(kafka.topic('byDefault').id)
    expect(
      kafka
        .topic('placed')
        .partitions()
        .map(({ leader }) => leader),
    ).toEqual([2, 2])
  })

  test('validateOnly creates nothing', async () => {
    await using kafka = await startBroker()
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { topics } = await client.send(CreateTopics, { topics: [newTopic('t')], validateOnly: true })
    expect(topics[0]).toMatchObject({ errorCode: 0, numPartitions: 1 })
    expect(kafka.topicNames()).toEqual([])
  })
})

describe('DeleteTopics and CreatePartitions', () => {
  test('T46 a topic deleted and made again has another id; the old one is unknown', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const old = await topicIdOf(client, 't')
    const { responses } = await client.send(DeleteTopics, { topics: [{ name: null, topicId: old }], timeoutMs: 0 })
    expect(responses).toMatchObject([{ name: 't', topicId: old, errorCode: 0 }])
    await client.send(CreateTopics, { topics: [newTopic('t')] })
    expect(await topicIdOf(client, 't')).not.toBe(old)
    const again = await client.send(DeleteTopics, { topics: [{ name: null, topicId: old }], timeoutMs: 0 })
    expect(again.responses[0]!.errorCode).toBe(errorCodes.UNKNOWN_TOPIC_ID)
  })

  test('names in old versions; unknown, doubled and disabled', async () => {
    await using kafka = await startBroker({ topics: { a: 1, b: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { responses } = await client.send(DeleteTopics, { topicNames: ['a', 'none', 'b', 'b'], timeoutMs: 0 }, 5)
    expect(responses.map(({ name, errorCode }) => [name, errorCode])).toEqual([
      ['a', 0],
      ['none', errorCodes.UNKNOWN_TOPIC_OR_PARTITION],
      ['b', errorCodes.INVALID_REQUEST],
    ])
    await using fixed = await startBroker({ topics: { a: 1 }, config: { 'delete.topic.enable': false } })
    await using other = await WireClient.open(fixed.brokers[0]!)
    const refused = await other.send(DeleteTopics, { topics: [{ name: 'a', topicId: zeroUuid }], timeoutMs: 0 })
    expect(refused.responses[0]!.errorCode).toBe(errorCodes.TOPIC_DELETION_DISABLED)
  })

  test('T76 partitions are added, never taken away', async () => {
    await using kafka = await startBroker({ topics: { t: 2 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const grow = async (name: string, count: number, validateOnly = false) => {
      const { results } = await client.send(CreatePartitions, {
        topics: [{ name, count, assignments: null }],
        timeoutMs: 0,
        validateOnly,
      })
      return results[0]!.errorCode
    }
    expect(await grow('t', 2)).toBe(errorCodes.INVALID_PARTITIONS)
    expect(await grow('t', 1)).toBe(errorCodes.INVALID_PARTITIONS)
    expect(await grow('none', 4)).toBe(errorCodes.UNKNOWN_TOPIC_OR_PARTITION)
    expect(await grow('t', 4, true)).toBe(0)
    expect(kafka.topic('t').partitionCount).toBe(2)
    expect(await grow('t', 4)).toBe(0)
    expect(kafka.topic('t').partitionCount).toBe(4)
    expect(await grow('t', 2 ** 31 - 1)).toBe(errorCodes.POLICY_VIOLATION)
    expect(kafka.topic('t').partitionCount).toBe(4)
  })
})

describe('describing', () => {
  test('DescribeCluster: the living brokers, with fenced ones on demand, and never a controller listener', async () => {
    await using kafka = await startBroker({ brokers: 2 })
    await kafka.broker(2).stop()
    await using client = await WireClient.open(kafka.brokers[0]!)
    const ask = (more: object) => client.send(DescribeCluster, { includeClusterAuthorizedOperations: false, ...more })
    expect(await ask({})).toMatchObject({ errorCode: 0, controllerId: 1, brokers: [{ brokerId: 1, isFenced: false }] })
    expect(
      (await ask({ includeFencedBrokers: true })).brokers.map(({ brokerId, isFenced }) => [brokerId, isFenced]),
    ).toEqual([
      [1, false],
      [2, true],
    ])
    expect((await ask({ endpointType: 2 })).errorCode).toBe(errorCodes.MISMATCHED_ENDPOINT_TYPE)
    expect((await ask({ endpointType: 7 })).errorCode).toBe(errorCodes.UNSUPPORTED_ENDPOINT_TYPE)
  })

  test('DescribeTopicPartitions goes in pages through the topics in order', async () => {
    await using kafka = await startBroker({ topics: { b: 3, a: 2, c: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const pages: string[][] = []
    let cursor: ResponseOf<typeof DescribeTopicPartitions>['nextCursor'] = null
    do {
      const request: RequestInput<typeof DescribeTopicPartitions> = { topics: [], responsePartitionLimit: 2, cursor }
      const answer = await client.send(DescribeTopicPartitions, request)
      pages.push(answer.topics.flatMap(({ name, partitions }) => partitions.map((p) => `${name}-${p.partitionIndex}`)))
      cursor = answer.nextCursor
    } while (cursor)
    expect(pages).toEqual([
      ['a-0', 'a-1'],
      ['b-0', 'b-1'],
      ['b-2', 'c-0'],
    ])
    const named = await client.send(DescribeTopicPartitions, { topics: [{ name: 'none' }, { name: 'b' }] })
    expect(named.topics.map(({ name, errorCode }) => [name, errorCode])).toEqual([
      ['b', 0],
      ['none', errorCodes.UNKNOWN_TOPIC_OR_PARTITION],
    ])
  })
})
