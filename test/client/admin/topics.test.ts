import { describe, expect, test } from 'vitest'
import { startBroker } from '../../../src/broker/start-broker.js'
import { topic } from '../../../src/client/serde/index.js'
import { adminOf, countOf, fill } from './admin-helpers.js'

describe('creating topics', () => {
  test('a topic has what was asked for, and can be used at once', async () => {
    await using kafka = await startBroker({ brokers: 2 })
    await using admin = adminOf(kafka)
    const created = await admin.createTopic({
      topic: 'orders',
      partitions: 4,
      replicationFactor: 1,
      configs: { 'retention.ms': 60_000, 'message.timestamp.type': 'LogAppendTime' },
    })
    expect(created).toEqual({
      topic: 'orders',
      topicId: kafka.topic('orders').id,
      partitionCount: 4,
      replicationFactor: 1,
    })
    const config = kafka.state.topics.get('orders')!.config
    expect([config.text('retention.ms'), config.text('message.timestamp.type')]).toEqual(['60000', 'LogAppendTime'])
    await fill(kafka, 1, 'orders', 3)
  })

  test('a name, a typed topic and an assignment are enough', async () => {
    await using kafka = await startBroker({ brokers: 2, config: { 'num.partitions': 3 } })
    await using admin = adminOf(kafka)
    const results = await admin.createTopics(['by-name', topic('typed'), { topic: 'placed', assignments: [[2], [2]] }])
    expect(results.map(({ topic, partitionCount, error }) => ({ topic, partitionCount, error }))).toEqual([
      { topic: 'by-name', partitionCount: 3, error: undefined },
      { topic: 'typed', partitionCount: 3, error: undefined },
      { topic: 'placed', partitionCount: 2, error: undefined },
    ])
    expect(
      kafka
        .topic('placed')
        .partitions()
        .map(({ leader }) => leader),
    ).toEqual([2, 2])
  })

  test('T88 of three topics one exists: one error and two successes', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    const results = await admin.createTopics(['a', 'orders', { topic: 'b', partitions: 2 }])
    expect(results.map(({ topic, error, maybeDone }) => [topic, error?.code, maybeDone])).toEqual([
      ['a', undefined, false],
      ['orders', 'TOPIC_ALREADY_EXISTS', false],
      ['b', undefined, false],
    ])
    expect(results[1]).not.toHaveProperty('topicId')
    expect(kafka.topicNames().sort()).toEqual(['a', 'b', 'orders'])
    await expect(admin.createTopic('orders')).rejects.toMatchObject({
      code: 'TOPIC_ALREADY_EXISTS',
      retriable: false,
      message: expect.stringContaining('for topic orders') as string,
    })
  })

  test('T88 a topic that a lost request may have created says so, and how the answer was lost', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    await admin.connect()
    const fault = kafka.faults.add({ api: 'CreateTopics', times: 1, disconnect: 'after' })
    const [result] = await admin.createTopics(['orders'])
    expect(fault.hits).toBe(1)
    expect(result).toMatchObject({ topic: 'orders', error: { code: 'TOPIC_ALREADY_EXISTS' }, maybeDone: true })
    expect(result!.error!.cause).toMatchObject({ code: 'CONNECTION_LOST' })
  })

  test('T88 a request that timed out at the broker is tried again, and tells the same', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    kafka.faults.add({ api: 'CreateTopics', times: 1, error: 'REQUEST_TIMED_OUT', afterProcessing: true })
    const [result] = await admin.createTopics(['orders'])
    expect(result).toMatchObject({
      error: { code: 'TOPIC_ALREADY_EXISTS', cause: { code: 'REQUEST_TIMED_OUT' } },
      maybeDone: true,
    })
  })

  test('T88 only what was not answered is asked for again', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    kafka.faults.add({ api: 'CreateTopics', topic: 'b', times: 2, error: 'NOT_CONTROLLER' })
    const results = await admin.createTopics(['a', 'b', 'c'])
    expect(results.map(({ error, maybeDone }) => [error, maybeDone])).toEqual(Array(3).fill([undefined, false]))
    expect(countOf(kafka, 'CreateTopics')).toBe(3)
  })

  test('T85 NOT_CONTROLLER: the controller is looked up again', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    await using admin = adminOf(kafka)
    await admin.connect()
    const asked = countOf(kafka, 'Metadata')
    const fault = kafka.faults.add({ api: 'CreateTopics', times: 1, error: 'NOT_CONTROLLER' })
    const retries: string[] = []
    admin.on('retry', ({ error }) => retries.push(error.code))
    await admin.createTopic('orders', { waitForLeaders: false })
    expect(fault.hits).toBe(1)
    expect(retries).toEqual(['NOT_CONTROLLER'])
    expect(countOf(kafka, 'Metadata')).toBeGreaterThan(asked)
  })

  test('T85 the controller has stopped: another broker takes the request', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    await using admin = adminOf(kafka)
    await admin.connect()
    await kafka.broker(kafka.state.controllerId).kill()
    expect(await admin.createTopic('orders')).toMatchObject({ topic: 'orders' })
  })

  test('T90 THROTTLING_QUOTA_EXCEEDED: waits for the throttle time and tries again', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    await admin.connect()
    const throttled: number[] = []
    admin.on('throttled', ({ throttleTimeMs }) => throttled.push(throttleTimeMs))
    kafka.faults.add({ api: 'CreateTopics', times: 1, error: 'THROTTLING_QUOTA_EXCEEDED' })
    kafka.faults.add({ api: 'CreateTopics', times: 1, throttleMs: 60 })
    await admin.createTopic('orders')
    expect(throttled).toEqual([60])
    expect(countOf(kafka, 'CreateTopics')).toBe(2)
    expect(kafka.topicNames()).toEqual(['orders'])
  })

  test('T90 a quota that stays used up ends with the deadline, with the quota as the cause', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    kafka.faults.add({ api: 'CreateTopics', topic: 'b', error: 'THROTTLING_QUOTA_EXCEEDED' })
    const [a, b] = await admin.createTopics(['a', 'b'], { timeoutMs: 150, waitForLeaders: false })
    expect(a).toMatchObject({ topic: 'a', error: undefined })
    expect(b).toMatchObject({
      topic: 'b',
      error: { code: 'TIMEOUT', cause: { code: 'THROTTLING_QUOTA_EXCEEDED' } },
      maybeDone: false,
    })
  })

  test('T84 a topic without leader hinders nobody: only the own topics are waited for', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { other: 2 } })
    await using admin = adminOf(kafka)
    await admin.connect()
    await kafka.broker(2).stop()
    await admin.createTopic({ topic: 'orders', partitions: 2 })
    expect((await admin.describeTopic('orders')).partitions.map(({ leaderId }) => leaderId)).toEqual([1, 1])
    expect((await admin.describeTopic('other')).partitions.map(({ leaderId }) => leaderId).sort()).toEqual([-1, 1])
  })

  test('T84 an own topic whose leader does not come is an error that tells that the topic is made', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    kafka.faults.add({ api: 'Metadata', topic: 'orders', partition: 0, error: 'LEADER_NOT_AVAILABLE' })
    const [result] = await admin.createTopics(['orders'], { timeoutMs: 150 })
    expect(result).toMatchObject({
      error: { code: 'TIMEOUT', cause: { code: 'LEADER_NOT_AVAILABLE' } },
      maybeDone: true,
    })
    expect(kafka.topicNames()).toEqual(['orders'])
  })

  test('a topic that brokers hear of later is waited for', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    await admin.connect()
    const fault = kafka.faults.add({ api: 'Metadata', topic: 'orders', times: 3, error: 'UNKNOWN_TOPIC_OR_PARTITION' })
    await admin.createTopic('orders')
    expect(fault.hits).toBe(3)
  })

  test('validateOnly creates nothing and finds the same errors', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    const results = await admin.createTopics(
      ['a', 'orders', { topic: 'b', replicationFactor: 3 }, { topic: 'c', configs: { 'no.such': 1 } }],
      { validateOnly: true },
    )
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      'TOPIC_ALREADY_EXISTS',
      'INVALID_REPLICATION_FACTOR',
      'INVALID_CONFIG',
    ])
    expect(results[0]).toMatchObject({ topicId: null, partitionCount: 1 })
    expect(results[2]!.error!.message).toContain('the broker says')
    expect(kafka.topicNames()).toEqual(['orders'])
  })
})

describe('deleting, listing and describing topics', () => {
  test('deleted topics are gone when it is done; what is not there is an error of its own', async () => {
    await using kafka = await startBroker({ topics: { a: 1, b: 1, c: 1 } })
    await using admin = adminOf(kafka)
    const results = await admin.deleteTopics(['a', 'nothing', topic('b')])
    expect(results.map(({ topic, error }) => [topic, error?.code])).toEqual([
      ['a', undefined],
      ['nothing', 'UNKNOWN_TOPIC_OR_PARTITION'],
      ['b', undefined],
    ])
    expect((await admin.listTopics()).map(({ topic }) => topic)).toEqual(['c'])
    await expect(admin.deleteTopic('a')).rejects.toMatchObject({ code: 'UNKNOWN_TOPIC_OR_PARTITION' })
  })

  test('a deletion whose answer was lost tells that it may be its own', async () => {
    await using kafka = await startBroker({ topics: { a: 1 } })
    await using admin = adminOf(kafka)
    await admin.connect()
    kafka.faults.add({ api: 'DeleteTopics', times: 1, disconnect: 'after' })
    expect(await admin.deleteTopics(['a'])).toMatchObject([
      { error: { code: 'UNKNOWN_TOPIC_OR_PARTITION', cause: { code: 'CONNECTION_LOST' } }, maybeDone: true },
    ])
  })

  test('deletion that is switched off is told', async () => {
    await using kafka = await startBroker({ topics: { a: 1 }, config: { 'delete.topic.enable': false } })
    await using admin = adminOf(kafka)
    await expect(admin.deleteTopic('a')).rejects.toMatchObject({ code: 'TOPIC_DELETION_DISABLED' })
  })

  test('T83 after a topic was deleted every other call goes on as before', async () => {
    await using kafka = await startBroker({ topics: { a: 1, b: 2 } })
    await using admin = adminOf(kafka)
    await admin.listOffsets('a', 'end')
    await admin.deleteTopic('a')
    expect(await admin.listOffsets('b', 'end')).toHaveLength(2)
    expect(await admin.createTopic('c')).toMatchObject({ topic: 'c' })
    expect((await admin.describeTopic('b')).partitions).toHaveLength(2)
    expect((await admin.listTopics()).map(({ topic }) => topic)).toEqual(['b', 'c'])
  })

  test('describing tells partitions, leaders and replicas, and an error for what is not there, creating nothing', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 2 }, autoCreateTopics: true })
    await using admin = adminOf(kafka, { allowAutoTopicCreation: true })
    const [orders, nothing] = await admin.describeTopics(['orders', 'nothing'])
    expect(orders).toEqual({
      topic: 'orders',
      topicId: kafka.topic('orders').id,
      isInternal: false,
      partitions: kafka
        .topic('orders')
        .partitions()
        .map(({ partition, leader, leaderEpoch }) => ({
          partition,
          leaderId: leader,
          leaderEpoch,
          replicas: [leader],
          isr: [leader],
          offlineReplicas: [],
        })),
      error: undefined,
      maybeDone: false,
    })
    expect(nothing).toMatchObject({ topic: 'nothing', error: { code: 'UNKNOWN_TOPIC_OR_PARTITION' } })
    await expect(admin.describeTopic('nothing')).rejects.toThrow('nothing')
    await expect(admin.listOffsets('nothing', 'end')).rejects.toMatchObject({ code: 'UNKNOWN_TOPIC_OR_PARTITION' })
    expect(kafka.topicNames()).toEqual(['orders'])
  })

  test('topics are listed by name; internal ones on demand', async () => {
    await using kafka = await startBroker({ topics: { b: 2, a: 1 } })
    await using admin = adminOf(kafka)
    expect(await admin.listTopics({ internal: true })).toEqual([
      { topic: 'a', topicId: kafka.topic('a').id, isInternal: false, partitionCount: 1 },
      { topic: 'b', topicId: kafka.topic('b').id, isInternal: false, partitionCount: 2 },
    ])
  })

  test('no items, no requests', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    expect(await admin.createTopics([])).toEqual([])
    expect(await admin.deleteTopics([])).toEqual([])
    expect(await admin.describeTopics([])).toEqual([])
    expect(countOf(kafka, 'CreateTopics') + countOf(kafka, 'DeleteTopics')).toBe(0)
  })
})

describe('adding partitions', () => {
  test('a topic grows, and its new partitions can be used at once', async () => {
    await using kafka = await startBroker({ topics: { orders: 1, other: 3 } })
    await using admin = adminOf(kafka)
    await admin.addPartitions({ topic: 'orders', total: 3 })
    expect(kafka.topic('orders').partitionCount).toBe(3)
    await fill(kafka, 1, 'orders', 2)
    const results = await admin.addPartitions([
      { topic: 'other', total: 3 },
      { topic: 'nothing', total: 3 },
      { topic: 'orders', total: 5, assignments: [[1], [1]] },
    ])
    expect(results.map(({ topic, total, error }) => [topic, total, error?.code])).toEqual([
      ['other', 3, 'INVALID_PARTITIONS'],
      ['nothing', 3, 'UNKNOWN_TOPIC_OR_PARTITION'],
      ['orders', 5, undefined],
    ])
    expect(kafka.topic('orders').partitionCount).toBe(5)
    await expect(admin.addPartitions({ topic: 'orders', total: 2 })).rejects.toThrow('would not be an increase')
  })

  test('an addition whose answer was lost tells that it may be its own', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await admin.connect()
    kafka.faults.add({ api: 'CreatePartitions', times: 1, disconnect: 'after' })
    expect(await admin.addPartitions([{ topic: 'orders', total: 2 }])).toMatchObject([
      { error: { code: 'INVALID_PARTITIONS' }, maybeDone: true },
    ])
    await admin.addPartitions({ topic: 'orders', total: 4 }, { validateOnly: true })
    expect(kafka.topic('orders').partitionCount).toBe(2)
  })
})
