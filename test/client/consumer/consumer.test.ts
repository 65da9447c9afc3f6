import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { BrokerCluster } from '../../../src/broker.js'
import { Consumer } from '../../../src/client/consumer/index.js'
import { Producer } from '../../../src/client/producer/index.js'
import { int64, json, string, topic } from '../../../src/client/serde/index.js'
import { CreateTopics } from '../../../src/protocol/messages/create-topics.js'
import { CreatePartitions } from '../../../src/protocol/messages/create-partitions.js'
import type { Fetch } from '../../../src/protocol/messages/fetch.js'
import { crc32c } from '../../../src/protocol/records/index.js'
import type { RequestOf } from '../../../src/protocol/wire/index.js'
import { ManualClock } from '../../helpers/manual-clock.js'
import {
  all,
  brokerWith,
  fast,
  fill,
  numbered,
  offsets,
  putInLog,
  reader,
  requester,
  take,
  until,
  values,
} from './consumer-helpers.js'
import { craft, range } from './crafted-batch.js'

const at = (partition: number, name = 'orders') => ({ topic: name, partition })

/** Whether the reader has what is before this offset of partition 0, and has asked for more. */
function wasAskedFrom(kafka: BrokerCluster, offset: number): boolean {
  return kafka.requests.some(({ api, request }) => {
    if (api !== 'Fetch') return false
    const { topics } = request as RequestOf<typeof Fetch>
    return topics.some(({ partitions }) => partitions.some((one) => one.partition === 0 && one.fetchOffset === offset))
  })
}

describe('reading', () => {
  test('every record of every partition comes once and in order, to the end at the start', async () => {
    await using kafka = await brokerWith({ orders: 3 }, { brokers: 2 })
    for (const partition of [0, 1, 2]) await fill(kafka, 500, { partition })
    await using consumer = reader(kafka, { to: 'end' })
    const records = await all(consumer)
    for (const partition of [0, 1, 2]) {
      expect(values(records.filter((record) => record.partition === partition))).toEqual(numbered(0, 499))
    }
    expect(records.length).toBe(1500)
  })

  test('a record has its key, value, headers, time and place; null and empty are different', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using producer = new Producer({ brokers: kafka.brokers })
    const headers = [
      { key: 'a', value: Buffer.from([0, 1]) },
      { key: 'a', value: null },
      { key: '', value: Buffer.alloc(0) },
    ]
    await producer.send({ topic: 'orders', key: 'k', value: 'é', headers, timestamp: 1_700_000_000_123 })
    await producer.send({ topic: 'orders', key: null, value: null })
    await producer.send({ topic: 'orders', key: '', value: '' })
    await using consumer = reader(kafka, { to: 'end' })
    const [first, tombstone, empty] = await all(consumer)
    expect(first).toMatchObject({
      topic: 'orders',
      partition: 0,
      offset: 0,
      timestamp: 1_700_000_000_123,
      leaderEpoch: 0,
    })
    expect([first!.key, first!.value]).toEqual([Buffer.from('k'), Buffer.from('é')])
    expect(first!.headers).toEqual(headers)
    expect([tombstone!.key, tombstone!.value]).toEqual([null, null])
    expect([empty!.key, empty!.value]).toEqual([Buffer.alloc(0), Buffer.alloc(0)])
  })

  test('typed topics are decoded, once', async () => {
    await using kafka = await brokerWith({ orders: 1, counts: 1 })
    const orders = topic('orders', { key: string(), value: json<{ id: number }>() })
    const counts = topic('counts', { value: int64() })
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send(orders, { key: 'c-7', value: { id: 1 } })
    await producer.send(counts, { value: 2n ** 53n + 1n })
    await using consumer = new Consumer({
      brokers: kafka.brokers,
      ...fast,
      topics: [orders, counts],
      from: 'beginning',
      to: 'end',
    })
    const records = await all(consumer)
    const order = records.find((record) => record.topic === 'orders')!
    expect([order.key, order.value]).toEqual(['c-7', { id: 1 }])
    expect(order.value).toBe(order.value)
    // T127
    expect(records.find((record) => record.topic === 'counts')!.value).toBe(9007199254740993n)
  })

  test('a value that cannot be decoded throws at that record only, with its place', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 2)
    await using consumer = reader(kafka, { topics: [topic('orders', { value: json<unknown>() })], to: 'end' })
    const [record] = await all(consumer)
    expect(() => record!.value).toThrow(
      expect.objectContaining({
        code: 'DESERIALIZATION_FAILED',
        topic: 'orders',
        partition: 0,
        offset: 0,
        nextOffset: 1,
      }),
    )
    expect(record!.valueBytes).toEqual(Buffer.from('v0'))
  })

  test('T127 a timestamp outside the safe integers throws at its record, the others can be read', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    const bad = craft({ base: 0, offsets: [0] })
    bad.writeBigInt64BE(2n ** 60n, 27)
    bad.writeUInt32BE(crc32c(bad, 21), 17)
    putInLog(kafka, [bad, craft({ base: 1, offsets: [1] })])
    await using consumer = reader(kafka, { to: 'end' })
    const [first, second] = await all(consumer)
    expect(() => first!.timestamp).toThrow(expect.objectContaining({ offset: 0 }))
    expect(String(first!.value)).toBe('v0')
    expect(second!.timestamp).toBe(1_700_000_000_000)
  })

  test('new records are given out as they come, and wake a reader that waits', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using consumer = reader(kafka, { from: 'end' })
    await consumer.connect()
    const records = take(consumer, 3)
    await until(() => consumer.position(at(0)) !== undefined)
    await fill(kafka, 3)
    expect(values(await records)).toEqual(numbered(0, 2))
  })

  test('partitions named one by one are read, and no other', async () => {
    await using kafka = await brokerWith({ orders: 3 })
    for (const partition of [0, 1, 2]) await fill(kafka, 2, { partition })
    await using consumer = reader(kafka, { partitions: [at(2)], to: 'end' })
    expect((await all(consumer)).map(({ partition }) => partition)).toEqual([2, 2])
    expect(consumer.partitions()).toEqual([at(2)])
  })

  test('partitions that are added later are read from their beginning', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using consumer = reader(kafka, { from: 'end', metadataMaxAgeMs: 20 })
    await consumer.connect()
    const added = new Promise((resolve) => consumer.on('partitionsAdded', resolve))
    const records = take(consumer, 2)
    const admin = requester(kafka)
    const topics = [{ name: 'orders', count: 2, assignments: null }]
    await admin.send(CreatePartitions, { topics, timeoutMs: 1000, validateOnly: false })
    await admin[Symbol.asyncDispose]()
    await fill(kafka, 2, { partition: 1 })
    expect(values(await records)).toEqual(numbered(0, 1))
    expect(await added).toEqual({ partitions: [at(1)] })
  })

  test('T114 a batch is read to its end before another partition has its turn: one is decompressed at a time', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    for (const partition of [0, 1]) {
      const batches = [0, 2000].map((base) => craft({ base, offsets: range(base, base + 1999) }))
      putInLog(kafka, batches, 'orders', partition)
    }
    await using consumer = reader(kafka, { to: 'end' })
    const turns: string[] = []
    for await (const { partition, offset } of consumer) {
      const turn = `${partition}/${Math.floor(offset / 2000)}`
      if (turns.at(-1) !== turn) turns.push(turn)
    }
    expect(turns).toEqual(['0/0', '1/0', '0/1', '1/1'])
  })

  test('batches() gives the records of one partition at a time, in the size asked for', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    for (let i = 0; i < 5; i++) await fill(kafka, 100, { from: 100 * i })
    await fill(kafka, 10, { partition: 1 })
    await using consumer = reader(kafka, { to: 'end' })
    const batches = await all(consumer.batches({ maxRecords: 300 }))
    for (const batch of batches) {
      expect(batch.length).toBeLessThanOrEqual(300)
      expect(batch.records.every(({ partition }) => partition === batch.partition)).toBe(true)
      expect([batch.firstOffset, batch.lastOffset]).toEqual([batch.records[0]!.offset, batch.records.at(-1)!.offset])
    }
    expect(values(batches.filter(({ partition }) => partition === 0).flatMap((batch) => [...batch]))).toEqual(
      numbered(0, 499),
    )
    expect(values(batches.filter(({ partition }) => partition === 1).flatMap((batch) => [...batch]))).toEqual(
      numbered(0, 9),
    )
  })

  test('batches() keeps to a limit of bytes, but for a single record', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 20)
    await using consumer = reader(kafka, { to: 'end' })
    const sizes = (await all(consumer.batches({ maxBytes: 20 }))).map(({ records }) => records)
    expect(values(sizes.flat())).toEqual(numbered(0, 19))
    for (const records of sizes) {
      expect(records.length === 1 || records.reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0) <= 20).toBe(true)
    }
    await using single = reader(kafka, { to: 5 })
    expect((await all(single.batches({ maxBytes: 1 }))).length).toBe(5)
  })

  test('batches() waits for a batch to be full when asked to, and gives what there is when the time is over', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 3)
    await using consumer = reader(kafka)
    const batches = consumer.batches({ maxRecords: 5, maxWaitMs: 10_000 })
    const first = batches.next()
    await until(() => wasAskedFrom(kafka, 3))
    await fill(kafka, 3, { from: 3 })
    expect(values([...(await first).value!])).toEqual(numbered(0, 4))
    await batches.return!()
    const [rest] = await take(consumer.batches({ maxRecords: 5, maxWaitMs: 20 }), 1)
    expect(values([...rest!])).toEqual(['v5'])
  })

  test('batches() does not wait for a batch that is full by its bytes', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 20)
    const clock = new ManualClock()
    await using consumer = reader(kafka, { clock })
    const batches = await take(consumer.batches({ maxBytes: 25, maxWaitMs: 10_000 }), 3)
    expect(batches.every(({ records }) => records.length > 1)).toBe(true)
    expect(values(batches.flatMap(({ records }) => records)).slice(0, 6)).toEqual(numbered(0, 5))
  })

  test('batches() holds nothing of a paused partition back from the others, and gives it out after resume()', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    await fill(kafka, 3)
    const clock = new ManualClock()
    await using consumer = reader(kafka, { clock })
    const batches = consumer.batches({ maxRecords: 5, maxWaitMs: 10_000 })
    const first = batches.next()
    await until(() => wasAskedFrom(kafka, 3))
    consumer.pause([at(0)])
    await fill(kafka, 5, { partition: 1, from: 10 })
    expect(values([...(await first).value!])).toEqual(numbered(10, 14))
    await fill(kafka, 2, { from: 3 })
    consumer.resume([at(0)])
    expect(values([...(await batches.next()).value!])).toEqual(numbered(0, 4))
    await batches.return!()
  })

  test('a batch that was held back when the iteration ends is given out by the next one', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 3)
    await using consumer = reader(kafka)
    const batches = consumer.batches({ maxRecords: 5, maxWaitMs: 10_000 })
    const waiting = batches.next()
    await until(() => wasAskedFrom(kafka, 3))
    await batches.return!()
    expect(await waiting).toEqual({ value: undefined, done: true })
    expect(values(await take(consumer, 3))).toEqual(numbered(0, 2))
  })
})

describe('the life of a Consumer', () => {
  test('one that was never iterated connects to nothing and closes at once', async () => {
    const consumer = new Consumer({ brokers: ['127.0.0.1:1'], topics: ['orders'] })
    await consumer.close()
    await consumer.close()
    await expect(consumer.connect()).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'CLOSED' })
    expect(() => {
      consumer.pause()
    }).toThrow(expect.objectContaining({ code: 'CLOSED' }))
  })

  test('T116 close() while the brokers are down, or during the wait before a retry, ends at once', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using consumer = reader(kafka, { retryBackoffMs: 60_000, retryBackoffMaxMs: 60_000 })
    await consumer.connect()
    await kafka.close()
    await new Promise((resolve) => consumer.on('retry', resolve))
    await consumer.close()
  })

  test('a connect() that is given up ends in its own time and takes no iteration with it', async () => {
    await using kafka = await brokerWith({ other: 1 }, { autoCreateTopics: false })
    await using admin = requester(kafka)
    await using consumer = reader(kafka)
    const controller = new AbortController()
    const aborted = consumer.connect({ signal: controller.signal })
    const late = consumer.connect({ timeoutMs: 30 })
    const records = take(consumer, 1)
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(late).rejects.toMatchObject({ code: 'TIMEOUT' })
    const topics = [{ name: 'orders', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }]
    await admin.send(CreateTopics, { topics, timeoutMs: 5000, validateOnly: false })
    await fill(kafka, 1)
    expect(values(await records)).toEqual(['v0'])
  })

  test('an unreachable cluster is an error within the time given', async () => {
    await using consumer = new Consumer({ brokers: ['127.0.0.1:1'], ...fast, topics: ['orders'], requestTimeoutMs: 60 })
    await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(consumer.connect({ timeoutMs: 20 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(consumer.connect({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' })
  })

  test('an unknown topic or partition is an error within the time given', async () => {
    await using kafka = await brokerWith({ orders: 1 }, { autoCreateTopics: false })
    await using other = reader(kafka, { topics: ['nothing'] })
    await expect(other.connect({ timeoutMs: 50 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      cause: expect.objectContaining({ code: 'UNKNOWN_TOPIC_OR_PARTITION' }) as unknown,
    })
    await using seventh = reader(kafka, { partitions: [at(7)] })
    await expect(seventh.connect()).rejects.toMatchObject({ code: 'UNKNOWN_TOPIC_OR_PARTITION' })
  })

  test('T114 what waits to be read stays within the budget while nobody reads', async () => {
    await using kafka = await brokerWith({ orders: 20 })
    for (let partition = 0; partition < 20; partition++) {
      putInLog(
        kafka,
        Array.from({ length: 8 }, (_, i) => craft({ base: i, offsets: [i], value: () => 'x'.repeat(10_000) })),
        'orders',
        partition,
      )
    }
    await using consumer = reader(kafka, {
      prefetchBytes: 100_000,
      maxBytes: 50_000,
      maxPartitionBytes: 20_000,
      to: 'end',
    })
    const [first] = await take(consumer, 1)
    const asked = () => kafka.requests.filter(({ api }) => api === 'Fetch')
    let seen = -1
    // Fetching ends by itself when the budget is used up.
    while (asked().length !== seen) {
      seen = asked().length
      for (let i = 0; i < 20; i++) await turn()
    }
    const fetchedAtMost = asked().reduce((sum, { request }) => sum + Number(request['maxBytes']), 0)
    expect(fetchedAtMost).toBeLessThanOrEqual(150_000)
    expect((await all(consumer)).length + 1).toBe(160)
    expect(first!.value!.length).toBe(10_000)
  })

  test('T37 a record larger than all limits comes nevertheless', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    putInLog(kafka, [
      craft({ base: 0, offsets: [0], value: () => 'x'.repeat(1_000_000) }),
      craft({ base: 1, offsets: [1] }),
    ])
    await using consumer = reader(kafka, { maxBytes: 1000, maxPartitionBytes: 1000, prefetchBytes: 1000, to: 'end' })
    expect((await all(consumer)).map(({ value }) => value!.length)).toEqual([1_000_000, 2])
  })

  test('offsets are given where they were asked for: beginning, end, offset, time and ago', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    putInLog(kafka, [
      craft({ base: 0, offsets: [0], timestamp: Date.now() - 7_200_000 }),
      craft({ base: 1, offsets: [1], timestamp: Date.now() - 1_800_000 }),
      craft({ base: 2, offsets: [2], timestamp: Date.now() }),
    ])
    const from = async (from: NonNullable<ConstructorParameters<typeof Consumer>[0]['from']>) => {
      await using consumer = reader(kafka, { from, to: 'end' })
      return offsets(await all(consumer))
    }
    expect(await from('beginning')).toEqual([0, 1, 2])
    expect(await from('end')).toEqual([])
    expect(await from(2)).toEqual([2])
    expect(await from({ ago: '1h' })).toEqual([1, 2])
    expect(await from(new Date(Date.now() - 60_000))).toEqual([2])
    expect(await from(new Date(Date.now() + 60_000))).toEqual([])
    await using stopped = reader(kafka, { to: { ago: '1h' } })
    expect(offsets(await all(stopped))).toEqual([0])
  })
})
