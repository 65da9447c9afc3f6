import { describe, expect, test } from 'vitest'
import type { BrokerCluster } from '../../../src/broker/broker-cluster.js'
import type { Consumer, PositionResetEvent } from '../../../src/client/consumer/index.js'
import { CreateTopics } from '../../../src/protocol/messages/create-topics.js'
import { DeleteTopics } from '../../../src/protocol/messages/delete-topics.js'
import { zeroUuid } from '../../../src/protocol/wire/index.js'
import {
  all,
  brokerWith,
  fill,
  numbered,
  offsets,
  putInLog,
  reader,
  requester,
  take,
  turns,
  until,
  values,
} from './consumer-helpers.js'
import { ManualClock } from '../../helpers/manual-clock.js'
import { craft, damaged, range } from './crafted-batch.js'

const at = (partition: number) => ({ topic: 'orders', partition })

const fetches = (kafka: BrokerCluster) => kafka.requests.filter(({ api }) => api === 'Fetch')

function retriesOf(consumer: Consumer): string[] {
  const codes: string[] = []
  consumer.on('retry', ({ error }) => codes.push(error.code))
  return codes
}

function advanceStart(kafka: BrokerCluster, offset: number, partition = 0): void {
  kafka.state.partition('orders', partition)!.deleteBefore(offset)
}

describe('what cannot be read', () => {
  test('T38 a corrupt batch throws with its place after what comes before it; others go on; seeking past it works', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    putInLog(kafka, [
      craft({ base: 0, offsets: [0, 1] }),
      damaged(craft({ base: 2, offsets: range(2, 5) })),
      craft({ base: 6, offsets: [6] }),
    ])
    await fill(kafka, 3, { partition: 1 })
    await using consumer = reader(kafka)
    const seen: string[] = []
    let failure: unknown
    try {
      for await (const { partition, offset } of consumer) seen.push(`${partition}/${offset}`)
    } catch (error) {
      failure = error
    }
    expect(failure).toMatchObject({
      name: 'RecordError',
      code: 'CORRUPT_MESSAGE',
      topic: 'orders',
      partition: 0,
      offset: 2,
      nextOffset: 6,
    })
    expect((failure as Error).message).toContain('seek to 6 to go on behind it')
    expect(seen.filter((name) => name.startsWith('0'))).toEqual(['0/0', '0/1'])
    consumer.seek(at(0), 6)
    const rest = await take(consumer, 6 - seen.length)
    expect(rest.map(({ partition, offset }) => `${partition}/${offset}`)).toContain('0/6')
  })

  test('T38 without a seek the error comes again, at the pace of the backoff and not at full speed', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    putInLog(kafka, [damaged(craft({ base: 0, offsets: [0] }))])
    const clock = new ManualClock()
    await using consumer = reader(kafka, { retryBackoffMs: 1000, retryBackoffMaxMs: 1000, clock })
    const retries = retriesOf(consumer)
    const corrupt = { code: 'CORRUPT_MESSAGE', offset: 0 }
    await expect(take(consumer, 1)).rejects.toMatchObject(corrupt)
    for (let i = 1; i < 4; i++) {
      const again = expect(take(consumer, 1)).rejects.toMatchObject(corrupt)
      await turns(50)
      expect(retries.length).toBe(i)
      await clock.advance(1200)
      await again
    }
    expect(retries).toEqual(Array(4).fill('CORRUPT_MESSAGE'))
  })

  test('T38 bytes damaged on the way are fetched again and come through', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 5)
    kafka.faults.add({ api: 'Fetch', corrupt: true, times: 1 })
    await using consumer = reader(kafka, { to: 'end' })
    await expect(all(consumer)).rejects.toMatchObject({ code: 'CORRUPT_MESSAGE' })
    expect(values(await all(consumer))).toEqual(numbered(0, 4))
  })

  test('T38 a broker that answers CORRUPT_MESSAGE is an error at the position', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    kafka.faults.add({ api: 'Fetch', topic: 'orders', error: 'CORRUPT_MESSAGE', times: 1 })
    await using consumer = reader(kafka)
    await expect(take(consumer, 1)).rejects.toMatchObject({ name: 'RecordError', offset: 0 })
  })

  test('what was tried in vain many times while nobody read is thrown once, and not if it has passed', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 2)
    const fault = kafka.faults.add({ api: 'Fetch', topic: 'orders', error: 'TOPIC_AUTHORIZATION_FAILED' })
    await using consumer = reader(kafka)
    const retries = retriesOf(consumer)
    await consumer.connect()
    await until(() => retries.length > 5)
    await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'TOPIC_AUTHORIZATION_FAILED' })
    const before = retries.length
    await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'TOPIC_AUTHORIZATION_FAILED' })
    expect(retries.length).toBeGreaterThan(before)
    fault.remove()
    const asked = fetches(kafka).length
    await until(() => fetches(kafka).length > asked + 1)
    expect(values(await take(consumer, 2))).toEqual(numbered(0, 1))
  })

  test('a topic without authorization throws once per attempt, while other topics go on', async () => {
    await using kafka = await brokerWith({ orders: 1, secret: 1 })
    await fill(kafka, 4)
    kafka.faults.add({ api: 'Fetch', topic: 'secret', error: 'TOPIC_AUTHORIZATION_FAILED' })
    await using consumer = reader(kafka, { topics: ['orders', 'secret'] })
    const seen: string[] = []
    while (seen.length < 4) {
      try {
        for await (const record of consumer) if (seen.push(String(record.value)) === 4) break
      } catch (error) {
        expect(error).toMatchObject({ name: 'AuthorizationError', code: 'TOPIC_AUTHORIZATION_FAILED' })
        expect((error as Error).message).toContain('secret-0')
      }
    }
    expect(seen).toEqual(numbered(0, 3))
    await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'TOPIC_AUTHORIZATION_FAILED' })
  })
})

describe('T40 a position that is not in the log', () => {
  const withLog = async (start: number, end: number): Promise<BrokerCluster> => {
    const kafka = await brokerWith({ orders: 1 })
    await fill(kafka, end)
    advanceStart(kafka, start)
    return kafka
  }

  test.each([
    ['beginning', 100, 500],
    ['end', 100, 600],
    ['nearest', 100, 500],
    ['nearest', 9000, 600],
    [{ ago: '1h' }, 100, 500],
  ] as const)('outOfRange %j: from %i to %i, with an event', async (outOfRange, from, to) => {
    await using kafka = await withLog(500, 600)
    await using consumer = reader(kafka, { from, outOfRange })
    const resets: PositionResetEvent[] = []
    consumer.on('reset', (event) => resets.push(event))
    await consumer.connect()
    const records = consumer.records()
    const next = records.next()
    await until(() => resets.length > 0)
    await until(() => consumer.position(at(0)) !== undefined)
    expect(resets).toEqual([{ ...at(0), reason: 'OFFSET_OUT_OF_RANGE', from, to }])
    if (to === 600) await fill(kafka, 1, { from: 600 })
    expect((await next).value!.offset).toBe(to)
    await records.return!()
  })

  test("'error' throws with the offset, again and again without a seek, and never at full speed", async () => {
    await using kafka = await withLog(500, 600)
    await using consumer = reader(kafka, { from: 100, outOfRange: 'error' })
    for (let i = 0; i < 3; i++) {
      await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'OFFSET_OUT_OF_RANGE', ...at(0), offset: 100 })
    }
    consumer.seek(at(0), 599)
    expect(offsets(await take(consumer, 1))).toEqual([599])
  })

  test('the default is as `from`; an offset means the nearest', async () => {
    await using kafka = await withLog(500, 600)
    await using consumer = reader(kafka, { from: 100 })
    expect(offsets(await take(consumer, 1))).toEqual([500])
  })

  test('what is buffered is given out before the position moves', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    putInLog(kafka, [craft({ base: 0, offsets: range(0, 9) })])
    await using consumer = reader(kafka, { outOfRange: 'beginning', maxWaitMs: 5 })
    expect(offsets(await take(consumer, 1))).toEqual([0])
    putInLog(kafka, [craft({ base: 10, last: 499, offsets: [499] }), craft({ base: 500, offsets: [500, 501] })])
    const before = fetches(kafka).length
    advanceStart(kafka, 500)
    await until(() => fetches(kafka).length > before)
    expect(offsets(await take(consumer, 11))).toEqual([...range(1, 9), 500, 501])
  })
})

describe('leaders and epochs', () => {
  test('T47 the leader of one partition moves during the fetch: others deliver, nothing is lost or twice', async () => {
    await using kafka = await brokerWith({ orders: 4 }, { brokers: 2 })
    for (const partition of range(0, 3)) await fill(kafka, 100, { partition })
    await using consumer = reader(kafka, { maxPartitionBytes: 500 })
    const seen: string[] = []
    let isMoved = false
    for await (const { partition, offset } of consumer) {
      seen.push(`${partition}/${offset}`)
      if (seen.length === 20 && !isMoved) {
        isMoved = true
        const leader = kafka.state.partition('orders', 0)!.leaderId
        await kafka.moveLeader('orders', 0, leader === 1 ? 2 : 1)
      }
      if (seen.length === 400) break
    }
    for (const partition of range(0, 3)) {
      const mine = seen.filter((name) => name.startsWith(`${partition}/`))
      expect(mine).toEqual(range(0, 99).map((offset) => `${partition}/${offset}`))
    }
  })

  test.each(['NOT_LEADER_OR_FOLLOWER', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH', 'UNKNOWN_TOPIC_ID'] as const)(
    'T42 %s is tried again with backoff and an event',
    async (error) => {
      await using kafka = await brokerWith({ orders: 2 })
      for (const partition of [0, 1]) await fill(kafka, 3, { partition })
      const fault = kafka.faults.add({ api: 'Fetch', topic: 'orders', partition: 0, error, times: 3 })
      await using consumer = reader(kafka)
      const retries = retriesOf(consumer)
      const records = await take(consumer, 6)
      for (const partition of [0, 1]) {
        expect(values(records.filter((record) => record.partition === partition))).toEqual(numbered(0, 2))
      }
      expect(fault.hits).toBe(3)
      expect(retries).toEqual([error, error, error])
    },
  )

  test('a logger that throws does not end the fetching', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 1)
    kafka.faults.add({ api: 'Fetch', topic: 'orders', error: 'NOT_LEADER_OR_FOLLOWER', times: 1 })
    let threw = false
    const nothing = () => {}
    const debug = (message: string) => {
      if (threw || !message.startsWith('fetch of orders-0')) return
      threw = true
      throw new Error('the disk is full')
    }
    await using consumer = reader(kafka, { logger: { debug, info: nothing, warn: nothing, error: nothing } })
    await expect(take(consumer, 1)).rejects.toMatchObject({ cause: new Error('the disk is full') })
    expect(values(await take(consumer, 1))).toEqual(numbered(0, 0))
  })

  test('T48 a broker that does not answer holds up its own partitions only', async () => {
    await using kafka = await brokerWith({ orders: 2 }, { brokers: 2 })
    for (const partition of [0, 1]) await fill(kafka, 3, { partition })
    const slow = kafka.state.partition('orders', 0)!.leaderId
    kafka.faults.add({ api: 'Fetch', broker: slow, drop: true })
    await using consumer = reader(kafka)
    expect((await take(consumer, 3)).map(({ partition }) => partition)).toEqual([1, 1, 1])
    await fill(kafka, 3, { partition: 1 })
    expect((await take(consumer, 3)).map(({ partition }) => partition)).toEqual([1, 1, 1])
  })

  test('T48 a broker that does not answer lookups holds up its own partitions only', async () => {
    await using kafka = await brokerWith({ orders: 2 }, { brokers: 2 })
    for (const partition of [0, 1]) await fill(kafka, 3, { partition })
    const slow = kafka.state.partition('orders', 0)!.leaderId
    kafka.faults.add({ api: 'ListOffsets', broker: slow, drop: true })
    await using consumer = reader(kafka)
    expect((await take(consumer, 3)).map(({ partition }) => partition)).toEqual([1, 1, 1])
  })

  test('a partition whose offset cannot be looked up holds up no other of its broker', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    await fill(kafka, 2)
    await fill(kafka, 2, { partition: 1, from: 10 })
    const fault = kafka.faults.add({ api: 'ListOffsets', topic: 'orders', partition: 1, error: 'OFFSET_NOT_AVAILABLE' })
    await using consumer = reader(kafka)
    expect(values(await take(consumer, 2))).toEqual(numbered(0, 1))
    fault.remove()
    expect(values(await take(consumer, 2))).toEqual(numbered(10, 11))
  })

  test('a topic that is deleted holds up no other when both are rewound, and is read when it is there again', async () => {
    await using kafka = await brokerWith({ orders: 1, gone: 1 }, { autoCreateTopics: false })
    await fill(kafka, 2)
    await using admin = requester(kafka)
    await using consumer = reader(kafka, { topics: ['orders', 'gone'], from: 'end' })
    const codes = retriesOf(consumer)
    await consumer.connect()
    await until(() => consumer.position(at(0)) === 2)
    await admin.send(DeleteTopics, { topics: [{ name: 'gone', topicId: zeroUuid }], timeoutMs: 5000 })
    await until(() => codes.includes('UNKNOWN_TOPIC_ID'))
    const rewound = consumer.rewind('beginning')
    expect(values(await take(consumer, 2))).toEqual(numbered(0, 1))
    const topics = [{ name: 'gone', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }]
    await admin.send(CreateTopics, { topics, timeoutMs: 5000, validateOnly: false })
    await rewound
    await fill(kafka, 1, { topic: 'gone', from: 7 })
    expect(values(await take(consumer, 1))).toEqual(['v7'])
  })

  test('a broker that is killed and comes back is read on where it was, with events in between', async () => {
    await using kafka = await brokerWith({ orders: 2 }, { brokers: 2 })
    for (const partition of [0, 1]) await fill(kafka, 3, { partition })
    await using consumer = reader(kafka)
    const retries = retriesOf(consumer)
    await take(consumer, 6)
    const { leaderId } = kafka.state.partition('orders', 0)!
    await kafka.broker(leaderId).kill()
    await fill(kafka, 3, { partition: 1, from: 3 })
    expect(values(await take(consumer, 3))).toEqual(numbered(3, 5))
    await until(() => retries.length > 0)
    await kafka.broker(leaderId).start()
    await fill(kafka, 3, { partition: 0, from: 3 })
    expect(values(await take(consumer, 3))).toEqual(numbered(3, 5))
  })

  test('T46 a topic that was deleted and created anew is read from the beginning, with an event', async () => {
    await using kafka = await brokerWith({ orders: 1 }, { autoCreateTopics: false })
    await fill(kafka, 5)
    await using consumer = reader(kafka)
    const resets: PositionResetEvent[] = []
    consumer.on('reset', (event) => resets.push(event))
    await take(consumer, 5)
    await recreate(kafka)
    await fill(kafka, 2)
    expect(offsets(await take(consumer, 2))).toEqual([0, 1])
    expect(resets).toEqual([{ ...at(0), reason: 'TOPIC_RECREATED', from: 5, to: 0 }])
  })

  test("T46 with 'error' it throws, and going on all the same passes nothing over", async () => {
    await using kafka = await brokerWith({ orders: 1 }, { autoCreateTopics: false })
    await fill(kafka, 5)
    await using consumer = reader(kafka, { outOfRange: 'error' })
    const codes = retriesOf(consumer)
    await take(consumer, 2)
    await recreate(kafka)
    await fill(kafka, 9)
    await until(() => codes.includes('TOPIC_RECREATED'))
    await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'TOPIC_RECREATED' })
    expect(offsets(await take(consumer, 2))).toEqual([2, 3])
    consumer.seek(at(0), 0)
    expect(offsets(await take(consumer, 2))).toEqual([0, 1])
  })
})

describe('fetch sessions and the rate of requests', () => {
  test.each(['FETCH_SESSION_ID_NOT_FOUND', 'INVALID_FETCH_SESSION_EPOCH', 'FETCH_SESSION_TOPIC_ID_ERROR'] as const)(
    'T44 after %s everything is asked for anew at once, and nothing is lost',
    async (error) => {
      await using kafka = await brokerWith({ orders: 2 })
      for (const partition of [0, 1]) await fill(kafka, 3, { partition })
      await using consumer = reader(kafka)
      const retries = retriesOf(consumer)
      await take(consumer, 6)
      const fault = kafka.faults.add({ api: 'Fetch', error, times: 1 })
      await until(() => fault.hits === 1)
      for (const partition of [0, 1]) await fill(kafka, 3, { partition, from: 3 })
      const records = await take(consumer, 6)
      for (const partition of [0, 1]) {
        expect(values(records.filter((record) => record.partition === partition))).toEqual(numbered(3, 5))
      }
      expect(retries).toEqual([])
    },
  )

  test('T44 an incremental request names what changed; a paused partition is forgotten, a resumed one named again', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    await using consumer = reader(kafka, { maxWaitMs: 5 })
    await consumer.connect()
    const next = consumer.records()
    const waiting = next.next()
    const partitionsIn = (list: unknown) =>
      (list as { partitions: (number | { partition: number })[] }[]).flatMap(({ partitions }) =>
        partitions.map((one) => (typeof one === 'number' ? one : one.partition)),
      )
    await until(() => fetches(kafka).length > 3)
    expect(partitionsIn(fetches(kafka)[0]!.request['topics'])).toEqual([0, 1])
    expect(partitionsIn(fetches(kafka)[3]!.request['topics'])).toEqual([])
    consumer.pause([at(1)])
    const forgotten = () => fetches(kafka).flatMap(({ request }) => partitionsIn(request['forgottenTopicsData']))
    await until(() => forgotten().length > 0)
    expect(forgotten()).toEqual([1])
    const before = fetches(kafka).length
    consumer.resume([at(1)])
    const named = () =>
      fetches(kafka)
        .slice(before)
        .flatMap(({ request }) => partitionsIn(request['topics']))
    await until(() => named().length > 0)
    expect(named()).toEqual([1])
    await next.return!()
    await waiting
  })

  test('T49 an idle consumer asks each broker once per maxWaitMs', async () => {
    await using kafka = await brokerWith({ orders: 4 }, { brokers: 2 })
    await using consumer = reader(kafka, { maxWaitMs: 20_000 })
    const records = consumer.records()
    const next = records.next()
    for (let asked = 2; asked <= 8; asked += 2) {
      await until(() => fetches(kafka).length >= asked)
      await turns(50)
      expect(fetches(kafka).length).toBe(asked)
      kafka.clock.advance(20_000)
    }
    await records.return!()
    await next
  })

  test('T49 with all partitions in error requests go by the backoff', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    const fault = kafka.faults.add({ api: 'Fetch', topic: 'orders', error: 'NOT_LEADER_OR_FOLLOWER' })
    const clock = new ManualClock()
    await using consumer = reader(kafka, { retryBackoffMs: 1000, retryBackoffMaxMs: 1000, clock })
    const records = consumer.records()
    const next = records.next()
    await until(() => fault.hits === 1)
    for (let i = 0; i < 3; i++) {
      await turns(50)
      const before = fault.hits
      await turns(50)
      expect(fault.hits).toBe(before)
      await clock.advance(1200)
      await until(() => fault.hits > before)
      expect(fault.hits).toBeLessThanOrEqual(before + 2)
    }
    await records.return!()
    await next
  })

  test('a full partition does not make an idle one wait, nor the other way round', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    putInLog(
      kafka,
      range(0, 99).map((offset) => craft({ base: offset, offsets: [offset], value: () => 'x'.repeat(100) })),
    )
    await using consumer = reader(kafka, { maxPartitionBytes: 400, maxWaitMs: 10_000 })
    const records = consumer.records()
    let last = -1
    for (let i = 0; i < 100; i++) last = (await records.next()).value!.offset
    expect(last).toBe(99)
    await records.return!()
  })
})

async function recreate(kafka: BrokerCluster): Promise<void> {
  await using admin = requester(kafka)
  await admin.send(DeleteTopics, { topics: [{ name: 'orders', topicId: zeroUuid }], timeoutMs: 1000 })
  const topics = [{ name: 'orders', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }]
  await admin.send(CreateTopics, { topics, timeoutMs: 1000, validateOnly: false })
}
