// What brokers that are not quite Apache Kafka, old ones, or damaged ones answer: scripted, byte by byte.
import { describe, expect, test } from 'vitest'
import { Consumer, type ConsumerOptions } from '../../../src/client/consumer/index.js'
import { Fetch } from '../../../src/protocol/messages/fetch.js'
import { ListOffsets } from '../../../src/protocol/messages/list-offsets.js'
import { zeroUuid, type RequestOf, type ResponseInput } from '../../../src/protocol/wire/index.js'
import { FakeServer } from '../../helpers/fake-server.js'
import { serveMetadata, topicId, type FakeTopic } from '../cluster/cluster-helpers.js'
import { fast, offsets, take, turns, until } from './consumer-helpers.js'
import { ManualClock } from '../../helpers/manual-clock.js'
import { craft } from './crafted-batch.js'

type PartitionAnswer = ResponseInput<typeof Fetch>['responses'][number]['partitions'][number]

/** A server that leads orders-0 and answers its fetches by a function of the offset; with nothing when that gives undefined. */
async function server(
  answer: (offset: number, epoch: number) => Partial<PartitionAnswer> | undefined,
  topic: FakeTopic = { leaders: [[1, 5]] },
): Promise<FakeServer> {
  const fake = await FakeServer.start()
  serveMetadata([fake], { orders: topic })
  fake.on(Fetch, async (request) => {
    const [asked] = request.topics
    const partition = asked?.partitions[0]
    const found = partition && answer(partition.fetchOffset, partition.currentLeaderEpoch)
    if (found === undefined) await new Promise((resolve) => setImmediate(resolve))
    return fetchAnswer(request, found)
  })
  fake.on(ListOffsets, ({ topics }) => ({
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex, timestamp }) => ({
        partitionIndex,
        errorCode: 0,
        offset: timestamp === -1 ? 100 : 0,
      })),
    })),
  }))
  return fake
}

function fetchAnswer(
  { topics }: RequestOf<typeof Fetch>,
  found: Partial<PartitionAnswer> | undefined,
): ResponseInput<typeof Fetch> {
  const [asked] = topics
  if (asked === undefined) return { throttleTimeMs: 0, responses: [] }
  const empty = { partitionIndex: 0, errorCode: 0, highWatermark: 100, abortedTransactions: null, records: [] }
  return {
    throttleTimeMs: 0,
    responses: [{ topic: asked.topic, topicId: asked.topicId, partitions: [{ ...empty, ...found }] }],
  }
}

function consumerOf(fake: FakeServer, options: Partial<ConsumerOptions> = {}): Consumer {
  return new Consumer({ brokers: [fake.address], topics: ['orders'], from: 'beginning', ...fast, ...options })
}

function oldMessageSet(offset: number, magic: number): Buffer {
  const bytes = Buffer.alloc(40)
  bytes.writeBigInt64BE(BigInt(offset), 0)
  bytes.writeInt32BE(28, 8)
  bytes[16] = magic
  return bytes
}

describe('answers of look-alikes', () => {
  test('T45 where the metadata has no topic ids, fetches go by name', async () => {
    const answer = (offset: number) => (offset === 0 ? { records: [craft({ base: 0, offsets: [0] })] } : undefined)
    await using fake = await server(answer, { leaders: [[1, 5]], topicId: zeroUuid })
    await using consumer = consumerOf(fake)
    expect(offsets(await take(consumer, 1))).toEqual([0])
    const fetches = fake.requestsOf(Fetch)
    expect(fetches.every(({ version }) => version === 12)).toBe(true)
    expect((fetches[0]!.request as RequestOf<typeof Fetch>).topics[0]!.topic).toBe('orders')
  })

  test('T45 where it has them, fetches go by id', async () => {
    await using fake = await server((offset) =>
      offset === 0 ? { records: [craft({ base: 0, offsets: [0] })] } : undefined,
    )
    await using consumer = consumerOf(fake)
    expect(offsets(await take(consumer, 1))).toEqual([0])
    const [first] = fake.requestsOf(Fetch)
    expect(first!.version).toBe(Fetch.stableVersions.max)
    expect((first!.request as RequestOf<typeof Fetch>).topics[0]!.topicId).toBe(topicId)
  })

  test('T42 the epoch of the metadata goes with a fetch; one that is not known goes as -1', async () => {
    const epochs: number[] = []
    const answer = (offset: number, epoch: number) => {
      epochs.push(epoch)
      return { records: [craft({ base: offset, offsets: [offset] })] }
    }
    await using fake = await server(answer)
    await using consumer = consumerOf(fake)
    await take(consumer, 1)
    await using unknown = await server(answer, { leaders: [[1, -1]] })
    await using other = consumerOf(unknown)
    await take(other, 1)
    expect(new Set(epochs)).toEqual(new Set([5, -1]))
  })

  test.each([0, 1])(
    'the message format with magic %i is refused with an error that names the offset',
    async (magic) => {
      await using fake = await server((offset) => (offset === 0 ? { records: [oldMessageSet(0, magic)] } : undefined))
      await using consumer = consumerOf(fake)
      await expect(take(consumer, 1)).rejects.toMatchObject({
        name: 'RecordError',
        code: 'UNSUPPORTED_FOR_MESSAGE_FORMAT',
        topic: 'orders',
        partition: 0,
        offset: 0,
      })
    },
  )

  test.each([
    ['a length of -1', -1],
    ['a length of 2 GB', 0x7fffffff],
  ])('T38 a batch with %s is an error at the position, not a loop', async (_, length) => {
    const bytes = Buffer.from(craft({ base: 0, offsets: [0] }))
    bytes.writeInt32BE(length, 8)
    await using fake = await server(() => ({ records: [bytes] }))
    await using consumer = consumerOf(fake)
    await expect(take(consumer, 1)).rejects.toMatchObject({ name: 'RecordError', code: 'CORRUPT_MESSAGE', offset: 0 })
    expect(fake.requestsOf(Fetch).length).toBeLessThan(3)
  })

  test('a batch that is cut off at the end is fetched again from its beginning', async () => {
    const second = craft({ base: 1, offsets: [1, 2] })
    const answer = (offset: number) => {
      if (offset === 0) return { records: [craft({ base: 0, offsets: [0] }), second.subarray(0, second.length - 5)] }
      return offset === 1 ? { records: [second] } : undefined
    }
    await using fake = await server(answer)
    await using consumer = consumerOf(fake)
    expect(offsets(await take(consumer, 3))).toEqual([0, 1, 2])
  })

  test('a broker that answers with older records only is asked again with backoff and an event', async () => {
    await using fake = await server((offset) => ({
      records: [craft({ base: 0, offsets: [0], last: 0 + (offset > 7 ? 0 : 7) })],
    }))
    await using consumer = consumerOf(fake, { from: 8, retryBackoffMs: 20, retryBackoffMaxMs: 20 })
    const codes: string[] = []
    consumer.on('retry', ({ error }) => codes.push(error.code))
    const records = consumer.records()
    const next = records.next()
    await until(() => codes.length === 3)
    expect(codes).toEqual(Array(3).fill('CORRUPT_MESSAGE'))
    expect(fake.requestsOf(Fetch).length).toBeLessThan(6)
    await records.return!()
    await next
  })

  test('T33 a gap costs one fetch, whatever its size', async () => {
    const asked: number[] = []
    const answer = (offset: number) => {
      asked.push(offset)
      if (offset === 0)
        return { records: [craft({ base: 0, last: 9, offsets: [1, 4] }), craft({ base: 10, last: 99_999 })] }
      return offset === 100_000 ? { records: [craft({ base: 100_000, offsets: [100_000] })] } : undefined
    }
    await using fake = await server(answer)
    await using consumer = consumerOf(fake)
    expect(offsets(await take(consumer, 3))).toEqual([1, 4, 100_000])
    expect(asked.slice(0, 2)).toEqual([0, 100_000])
  })

  test('under read_committed aborted records are left out; under read_uncommitted the broker is asked so', async () => {
    const records = [
      craft({ base: 0, offsets: [0, 1], transactional: true, producerId: 7 }),
      craft({ base: 2, marker: 'abort', producerId: 7 }),
      craft({ base: 3, offsets: [3] }),
    ]
    await using fake = await server((offset) =>
      offset === 0 ? { records, abortedTransactions: [{ producerId: 7, firstOffset: 0 }] } : undefined,
    )
    await using committed = consumerOf(fake)
    expect(offsets(await take(committed, 1))).toEqual([3])
    await using dirty = await server((offset) => (offset === 0 ? { records, abortedTransactions: null } : undefined))
    await using uncommitted = consumerOf(dirty, { isolation: 'read_uncommitted' })
    expect(offsets(await take(uncommitted, 3))).toEqual([0, 1, 3])
    const level = (from: FakeServer) => (from.requestsOf(Fetch)[0]!.request as RequestOf<typeof Fetch>).isolationLevel
    expect([level(fake), level(dirty)]).toEqual([1, 0])
  })

  test('T54 an open transaction holds the reader, with a lag of 0; when it is aborted what is behind it comes', async () => {
    let isOpen = true
    const records = [
      craft({ base: 0, offsets: [0, 1], transactional: true, producerId: 7 }),
      craft({ base: 2, offsets: [2] }),
      craft({ base: 3, marker: 'abort', producerId: 7 }),
    ]
    const abortedTransactions = [{ producerId: 7, firstOffset: 0 }]
    await using fake = await server((offset) =>
      isOpen || offset !== 0 ? undefined : { records, abortedTransactions, lastStableOffset: 4 },
    )
    fake.on(ListOffsets, ({ isolationLevel, topics }) => ({
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex, timestamp }) => {
          const end = isolationLevel === 1 && isOpen ? 0 : 4
          return { partitionIndex, errorCode: 0, offset: timestamp === -1 ? end : 0 }
        }),
      })),
    }))
    await using consumer = consumerOf(fake)
    const reading = consumer.records()
    const next = reading.next()
    await until(() => fake.requestsOf(Fetch).length > 3)
    const where = { topic: 'orders', partition: 0 }
    expect(await consumer.lag()).toEqual([{ ...where, position: 0, end: 0, lag: 0 }])
    isOpen = false
    expect((await next).value!.offset).toBe(2)
    const after = reading.next()
    await until(() => consumer.position(where) === 4)
    expect(await consumer.lag()).toEqual([{ ...where, position: 4, end: 4, lag: 0 }])
    await reading.return!()
    await after
  })

  test('T40 with -1 for all watermarks in the error the leader is asked where its log begins', async () => {
    const answer = (offset: number) =>
      offset === 50
        ? { errorCode: 1, highWatermark: -1, lastStableOffset: -1, logStartOffset: -1 }
        : { records: [craft({ base: offset, offsets: [offset] })] }
    await using fake = await server(answer)
    await using consumer = consumerOf(fake, { from: 50, outOfRange: 'end' })
    expect(offsets(await take(consumer, 1))).toEqual([100])
  })

  test('T40 a lookup that gives the same bad offset again is repeated with backoff, not at full speed', async () => {
    await using fake = await server(() => ({ errorCode: 1, highWatermark: -1 }))
    await using consumer = consumerOf(fake, { outOfRange: 'end', retryBackoffMs: 20, retryBackoffMaxMs: 20 })
    const codes: string[] = []
    consumer.on('retry', ({ error }) => codes.push(error.code))
    const records = consumer.records()
    const next = records.next()
    await until(() => codes.length === 3)
    expect(fake.requestsOf(Fetch).length).toBeLessThan(7)
    await records.return!()
    await next
  })

  test('T47 what a broker tells about the new leader is used at once (KIP-951)', async () => {
    await using old = await FakeServer.start()
    await using heir = await FakeServer.start()
    serveMetadata([old, heir], { orders: { leaders: [[1, 5]] } })
    const redirect = { errorCode: 6, currentLeader: { leaderId: 2, leaderEpoch: 6 } }
    const nodeEndpoints = [{ nodeId: 2, host: '127.0.0.1', port: heir.port }]
    old.on(Fetch, (request) => ({ ...fetchAnswer(request, redirect), nodeEndpoints }))
    heir.on(Fetch, (request) => fetchAnswer(request, { records: [craft({ base: 3, offsets: [3] })] }))
    await using consumer = consumerOf(old, { from: 3 })
    expect(offsets(await take(consumer, 1))).toEqual([3])
    expect(old.requestsOf(Fetch).length).toBe(1)
  })

  test('T44 a broker that refuses every session is asked by the backoff, with events', async () => {
    await using fake = await server(() => undefined)
    fake.on(Fetch, () => ({ throttleTimeMs: 0, errorCode: 71, responses: [] }))
    const clock = new ManualClock()
    await using consumer = consumerOf(fake, { retryBackoffMs: 1000, retryBackoffMaxMs: 1000, clock })
    const codes: string[] = []
    consumer.on('retry', ({ error }) => codes.push(error.code))
    const records = consumer.records()
    const next = records.next()
    for (let asked = 1; asked < 4; asked++) {
      await until(() => codes.length === asked)
      await turns(50)
      expect(fake.requestsOf(Fetch).length).toBe(asked)
      await clock.advance(1200)
    }
    expect(codes.every((code) => code === 'INVALID_FETCH_SESSION_EPOCH')).toBe(true)
    await records.return!()
    await next
  })
})
