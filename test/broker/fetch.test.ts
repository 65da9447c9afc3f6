// Fetch, its sessions and long poll; ListOffsets, OffsetForLeaderEpoch and DeleteRecords.
import { describe, expect, test } from 'vitest'
import { startBroker, type BrokerCluster } from '../../src/broker.js'
import { DeleteRecords } from '../../src/protocol/messages/delete-records.js'
import { errorCodes } from '../../src/protocol/messages/error-table.js'
import { Fetch } from '../../src/protocol/messages/fetch.js'
import { ListOffsets } from '../../src/protocol/messages/list-offsets.js'
import { OffsetForLeaderEpoch } from '../../src/protocol/messages/offset-for-leader-epoch.js'
import { batchOf, fetch, fetchOf, produce, topicIdOf, valuesIn } from './produce-fetch-lab.js'
import { WireClient } from './wire-client.js'

async function filled(kafka: BrokerCluster, client: WireClient, batches: string[][], partition = 0): Promise<void> {
  const [topic] = kafka.topicNames()
  for (const values of batches) await produce(client, topic!, partition, batchOf(values))
}

describe('what is returned', () => {
  test('T35 the whole batch that holds the offset, and all after it', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await filled(kafka, client, [['a', 'b', 'c'], ['d']])
    const answer = await fetch(client, fetchOf('t', [{ partition: 0, fetchOffset: 1 }]))
    expect(valuesIn(answer)).toEqual(['a', 'b', 'c', 'd'])
    expect(answer.responses[0]!.partitions[0]).toMatchObject({
      errorCode: 0,
      highWatermark: 4,
      lastStableOffset: 4,
      logStartOffset: 0,
      preferredReadReplica: -1,
      abortedTransactions: null,
    })
  })

  test('an empty answer is zero bytes, not null', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const answer = await fetch(client, fetchOf('t', [{ partition: 0 }]))
    expect(answer.responses[0]!.partitions[0]!.records).toEqual(Buffer.alloc(0))
  })

  test('T37 B04 the first batch comes whatever its size, then the limits count', async () => {
    await using kafka = await startBroker({ topics: { t: 2 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await filled(kafka, client, [['x'.repeat(5000)], ['y']])
    await filled(kafka, client, [['z']], 1)
    const partitions = [
      { partition: 0, partitionMaxBytes: 100 },
      { partition: 1, partitionMaxBytes: 100 },
    ]
    const answer = await fetch(client, fetchOf('t', partitions, { maxBytes: 200 }))
    expect(valuesIn(answer, 0)).toEqual(['x'.repeat(5000)])
    expect(valuesIn(answer, 1)).toEqual([])
    const second = await fetch(client, fetchOf('t', [{ partition: 0, fetchOffset: 1 }, { partition: 1 }]))
    expect([valuesIn(second, 0), valuesIn(second, 1)]).toEqual([['y'], ['z']])
  })

  test('many small batches over several segments come in order, cut at whole batches', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const values = Array.from({ length: 300 }, (_, i) => `${i}`.padStart(100, '.'))
    for (const value of values) await produce(client, 't', 0, batchOf([value]))
    const seen: string[] = []
    while (seen.length < values.length) {
      const answer = await fetch(
        client,
        fetchOf('t', [{ partition: 0, fetchOffset: seen.length, partitionMaxBytes: 3000 }]),
      )
      expect(answer.responses[0]!.partitions[0]!.records!.length).toBeLessThanOrEqual(3000)
      const got = valuesIn(answer)
      expect(got.length).toBeGreaterThan(0)
      seen.push(...got)
    }
    expect(seen).toEqual(values)
  })

  test('T40 errors carry -1 for every offset', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const nothing = { highWatermark: -1, lastStableOffset: -1, logStartOffset: -1 }
    const outOfRange = await fetch(client, fetchOf('t', [{ partition: 0, fetchOffset: 5 }]))
    expect(outOfRange.responses[0]!.partitions[0]).toMatchObject({
      errorCode: errorCodes.OFFSET_OUT_OF_RANGE,
      ...nothing,
    })
    const unknown = await fetch(client, fetchOf('t', [{ partition: 9 }]))
    expect(unknown.responses[0]!.partitions[0]).toMatchObject({
      errorCode: errorCodes.UNKNOWN_TOPIC_OR_PARTITION,
      ...nothing,
    })
    await using other = await WireClient.open(kafka.brokers[1]!)
    const wrong = await fetch(other, fetchOf('t', [{ partition: 0 }]))
    expect(wrong.responses[0]!.partitions[0]).toMatchObject({
      errorCode: errorCodes.NOT_LEADER_OR_FOLLOWER,
      currentLeader: { leaderId: 1, leaderEpoch: 0 },
      ...nothing,
    })
  })

  test('T42 an older or newer leader epoch than the broker has is refused', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await kafka.moveLeader('t', 0, 2)
    await kafka.moveLeader('t', 0, 1)
    await using client = await WireClient.open(kafka.brokers[0]!)
    const codeFor = async (currentLeaderEpoch: number) =>
      (await fetch(client, fetchOf('t', [{ partition: 0, currentLeaderEpoch }]))).responses[0]!.partitions[0]!.errorCode
    expect(await codeFor(1)).toBe(errorCodes.FENCED_LEADER_EPOCH)
    expect(await codeFor(2)).toBe(0)
    expect(await codeFor(3)).toBe(errorCodes.UNKNOWN_LEADER_EPOCH)
    expect(await codeFor(-1)).toBe(0)
  })

  test('T45 topics go by id from version 13; an unknown id is the error of its partitions', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await filled(kafka, client, [['a']])
    const ofId = (topicId: string) => ({
      ...fetchOf('', []),
      topics: [{ topicId, partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }] }],
    })
    expect(valuesIn(await client.send(Fetch, ofId(await topicIdOf(client, 't'))))).toEqual(['a'])
    const unknown = await client.send(Fetch, ofId('abcdefghijklmnopqrstuw'))
    expect(unknown.responses[0]!.partitions[0]!.errorCode).toBe(errorCodes.UNKNOWN_TOPIC_ID)
  })
})

describe('long poll (B05)', () => {
  test('an append ends the wait', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using reader = await WireClient.open(kafka.brokers[0]!)
    await using writer = await WireClient.open(kafka.brokers[0]!)
    const waiting = fetch(reader, fetchOf('t', [{ partition: 0 }], { maxWaitMs: 60_000 }))
    await produce(writer, 't', 0, batchOf(['late']))
    expect(valuesIn(await waiting)).toEqual(['late'])
  })

  test('minBytes waits for more than one append', async () => {
    await using kafka = await startBroker({ topics: { t: 2 } })
    await using reader = await WireClient.open(kafka.brokers[0]!)
    await using writer = await WireClient.open(kafka.brokers[0]!)
    const waiting = fetch(
      reader,
      fetchOf('t', [{ partition: 0 }, { partition: 1 }], { maxWaitMs: 60_000, minBytes: 150 }),
    )
    await produce(writer, 't', 0, batchOf(['1']))
    await produce(writer, 't', 1, batchOf(['2']))
    await produce(writer, 't', 0, batchOf(['3']))
    const answer = await waiting
    expect([valuesIn(answer, 0), valuesIn(answer, 1)]).toEqual([['1', '3'], ['2']])
  })

  test('minBytes that whole batches within the limits do not reach are not waited for', async () => {
    await using kafka = await startBroker({ topics: { t: 1 }, config: { 'fetch.max.bytes': 1024 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await filled(kafka, client, [['a'.repeat(500)], ['b'.repeat(500)], ['c'.repeat(500)]])
    const limits = { minBytes: 1000, maxWaitMs: 3_600_000 }
    const ofPartition = fetchOf('t', [{ partition: 0, partitionMaxBytes: 1000 }], limits)
    expect(valuesIn(await fetch(client, ofPartition))).toEqual(['a'.repeat(500)])
    const ofBroker = fetchOf('t', [{ partition: 0 }], { ...limits, minBytes: 1 << 20 })
    expect(valuesIn(await fetch(client, ofBroker))).toEqual(['a'.repeat(500)])
  })

  test('the time by the broker clock ends the wait', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const waiting = fetch(client, fetchOf('t', [{ partition: 0 }], { maxWaitMs: 3_600_000 }))
    await expect.poll(() => kafka.requests.length).toBe(1)
    kafka.clock.advance(3_600_000)
    expect(valuesIn(await waiting)).toEqual([])
  })

  test('an error, a lost leader and a closed broker end it too', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const unknown = await fetch(client, fetchOf('t', [{ partition: 3 }, { partition: 0 }], { maxWaitMs: 60_000 }))
    expect(unknown.responses[0]!.partitions.length).toBe(2)
    const moved = fetch(client, fetchOf('t', [{ partition: 0 }], { maxWaitMs: 60_000 }))
    await expect.poll(() => kafka.requests.length).toBe(2)
    await kafka.moveLeader('t', 0, 2)
    expect((await moved).responses[0]!.partitions[0]!.errorCode).toBe(errorCodes.NOT_LEADER_OR_FOLLOWER)
    await using other = await WireClient.open(kafka.brokers[1]!)
    const cut = fetch(other, fetchOf('t', [{ partition: 0 }], { maxWaitMs: 60_000 }))
    await expect.poll(() => kafka.requests.length).toBe(3)
    await Promise.all([kafka.close(), expect(cut).rejects.toThrow('closed')])
  })
})

describe('sessions (T44, KIP-227)', () => {
  const full = { sessionId: 0, sessionEpoch: 0 }

  test('later answers hold only what is new, and forgotten partitions stay out', async () => {
    await using kafka = await startBroker({ topics: { t: 3 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const first = await fetch(client, fetchOf('t', [{ partition: 0 }, { partition: 1 }, { partition: 2 }], full))
    const { sessionId } = first
    expect(sessionId).toBeGreaterThan(0)
    expect(first.responses[0]!.partitions.length).toBe(3)

    const nothing = await fetch(client, fetchOf('t', [], { sessionId, sessionEpoch: 1, topics: [] }))
    expect(nothing).toMatchObject({ sessionId, responses: [] })

    await produce(client, 't', 1, batchOf(['one']))
    await produce(client, 't', 2, batchOf(['two']))
    const forgottenTopicsData = [{ topic: 't', partitions: [2] }]
    const news = await fetch(client, fetchOf('t', [], { sessionId, sessionEpoch: 2, topics: [], forgottenTopicsData }))
    expect(news.responses.flatMap(({ partitions }) => partitions.map((p) => p.partitionIndex))).toEqual([1])
    expect(valuesIn(news, 1)).toEqual(['one'])

    const added = await fetch(
      client,
      fetchOf('t', [{ partition: 1, fetchOffset: 1 }, { partition: 2 }], { sessionId, sessionEpoch: 3 }),
    )
    expect(valuesIn(added, 2)).toEqual(['two'])
  })

  test('B04 a partition that gave records goes to the end of the line', async () => {
    await using kafka = await startBroker({ topics: { t: 2 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    for (let i = 0; i < 3; i++) await produce(client, 't', 0, batchOf([`a${i}`]))
    await produce(client, 't', 1, batchOf(['b']))
    const limits = { maxBytes: 80 }
    const first = await fetch(client, fetchOf('t', [{ partition: 0 }, { partition: 1 }], { ...full, ...limits }))
    const { sessionId } = first
    const orders: string[][] = [[...valuesIn(first, 0), ...valuesIn(first, 1)]]
    for (let sessionEpoch = 1; sessionEpoch < 4; sessionEpoch++) {
      const offset = orders.flat().filter((value) => value.startsWith('a')).length
      const done = orders.flat().includes('b')
      const partitions = [
        { partition: 0, fetchOffset: offset },
        { partition: 1, fetchOffset: done ? 1 : 0 },
      ]
      const answer = await fetch(client, fetchOf('t', partitions, { sessionId, sessionEpoch, ...limits }))
      orders.push([...valuesIn(answer, 0), ...valuesIn(answer, 1)])
    }
    expect(orders.findIndex((values) => values.includes('b'))).toBeLessThanOrEqual(2)
    expect(orders.flat().sort()).toEqual(['a0', 'a1', 'a2', 'b'])
  })

  test('an unknown session, a wrong epoch and another kind of topic name are errors of the whole answer', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { sessionId } = await fetch(client, fetchOf('t', [{ partition: 0 }], full))
    const empty = (session: number, sessionEpoch: number) =>
      fetchOf('t', [], { sessionId: session, sessionEpoch, topics: [] })
    expect((await fetch(client, empty(sessionId + 1, 1))).errorCode).toBe(errorCodes.FETCH_SESSION_ID_NOT_FOUND)
    expect((await fetch(client, empty(sessionId, 5))).errorCode).toBe(errorCodes.INVALID_FETCH_SESSION_EPOCH)
    expect((await client.send(Fetch, empty(sessionId, 1), 13)).errorCode).toBe(errorCodes.FETCH_SESSION_TOPIC_ID_ERROR)
    expect((await fetch(client, empty(sessionId, 1))).errorCode).toBe(0)
    expect((await fetch(client, fetchOf('t', [{ partition: 0 }], { sessionId, sessionEpoch: -1 }))).sessionId).toBe(0)
    expect((await fetch(client, empty(sessionId, 2))).errorCode).toBe(errorCodes.FETCH_SESSION_ID_NOT_FOUND)
  })

  test('a full cache gives no session, until one was unused for two minutes', async () => {
    await using kafka = await startBroker({
      topics: { t: 1 },
      config: { 'max.incremental.fetch.session.cache.slots': 1 },
    })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const open = async () => (await fetch(client, fetchOf('t', [{ partition: 0 }], full))).sessionId
    expect(await open()).toBeGreaterThan(0)
    expect(await open()).toBe(0)
    kafka.clock.advance(121_000)
    expect(await open()).toBeGreaterThan(0)
  })
})

describe('offsets', () => {
  async function offsetAt(client: WireClient, timestamp: number, version = 11) {
    const request = {
      replicaId: -1,
      isolationLevel: 0,
      topics: [{ name: 't', partitions: [{ partitionIndex: 0, timestamp }] }],
    }
    const { topics } = await client.send(ListOffsets, request, version)
    const { errorCode, offset, timestamp: found, leaderEpoch } = topics[0]!.partitions[0]!
    return { errorCode, offset, timestamp: found, leaderEpoch }
  }

  test('by timestamp: the first record from then on; by special timestamps', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const at = Date.now() - 10_000
    await produce(
      client,
      't',
      0,
      batchOf([
        { value: 'a', timestamp: at },
        { value: 'b', timestamp: at + 20 },
        { value: 'c', timestamp: at + 10 },
      ]),
    )
    await produce(client, 't', 0, batchOf([{ value: 'd', timestamp: at + 15 }]))
    const found = (offset: number, timestamp: number) => ({ errorCode: 0, offset, timestamp, leaderEpoch: 0 })
    expect(await offsetAt(client, at)).toEqual(found(0, at))
    expect(await offsetAt(client, at + 1)).toEqual(found(1, at + 20))
    expect(await offsetAt(client, at + 20)).toEqual(found(1, at + 20))
    expect(await offsetAt(client, at + 21)).toEqual({ ...found(-1, -1), leaderEpoch: -1 })
    expect(await offsetAt(client, -1)).toEqual(found(4, -1))
    expect(await offsetAt(client, -2)).toEqual(found(0, -1))
    expect(await offsetAt(client, -3)).toEqual(found(1, at + 20))
    expect(await offsetAt(client, -4)).toEqual(found(0, -1))
    expect(await offsetAt(client, -5)).toEqual({ ...found(-1, -1), leaderEpoch: -1 })
    expect(await offsetAt(client, -6)).toEqual({ ...found(-1, -1), leaderEpoch: -1 })
    expect((await offsetAt(client, -3, 6)).errorCode).toBe(errorCodes.UNSUPPORTED_VERSION)
    expect((await offsetAt(client, -9)).errorCode).toBe(errorCodes.UNSUPPORTED_VERSION)
  })

  test('by timestamp: a record deleted from a batch that is left does not hide those of later batches', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const at = Date.now() - 10_000
    const batch = (first: number, second: number) => batchOf([{ timestamp: at + first }, { timestamp: at + second }])
    await produce(client, 't', 0, batch(20, 0))
    await produce(client, 't', 0, batch(1, 30))
    await kafka.topic('t').deleteBefore(0, 1)
    expect(await offsetAt(client, at + 10)).toEqual({ errorCode: 0, offset: 3, timestamp: at + 30, leaderEpoch: 0 })
    await produce(client, 't', 0, batch(40, 35))
    await kafka.topic('t').deleteBefore(0, 5)
    expect(await offsetAt(client, -3)).toEqual({ errorCode: 0, offset: 5, timestamp: at + 35, leaderEpoch: 0 })
  })

  test('DeleteRecords moves the start; what is before it cannot be read', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await filled(kafka, client, [['a', 'b', 'c'], ['d']])
    const remove = async (offset: number) => {
      const request = { timeoutMs: 0, topics: [{ name: 't', partitions: [{ partitionIndex: 0, offset }] }] }
      return (await client.send(DeleteRecords, request)).topics[0]!.partitions[0]!
    }
    expect(await remove(9)).toMatchObject({ errorCode: errorCodes.OFFSET_OUT_OF_RANGE, lowWatermark: -1 })
    expect(await remove(2)).toMatchObject({ errorCode: 0, lowWatermark: 2 })
    expect(await remove(1)).toMatchObject({ errorCode: 0, lowWatermark: 2 })
    expect((await offsetAt(client, -2)).offset).toBe(2)
    const before = await fetch(client, fetchOf('t', [{ partition: 0, fetchOffset: 1 }]))
    expect(before.responses[0]!.partitions[0]!.errorCode).toBe(errorCodes.OFFSET_OUT_OF_RANGE)
    expect((await kafka.topic('t').records()).map(({ offset }) => offset)).toEqual([2, 3])
    expect(await remove(-1)).toMatchObject({ errorCode: 0, lowWatermark: 4 })
    expect(await produce(client, 't', 0, batchOf(['e']))).toMatchObject({ baseOffset: 4, logStartOffset: 4 })
    expect((await kafka.topic('t').records()).map(({ offset }) => offset)).toEqual([4])
  })

  test('OffsetForLeaderEpoch says where an epoch ended', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await using first = await WireClient.open(kafka.brokers[0]!)
    await filled(kafka, first, [['a', 'b']])
    await kafka.moveLeader('t', 0, 2)
    await using client = await WireClient.open(kafka.brokers[1]!)
    await filled(kafka, client, [['c']])
    const endOf = async (leaderEpoch: number) => {
      const request = { topics: [{ topic: 't', partitions: [{ partition: 0, leaderEpoch }] }] }
      const {
        errorCode,
        endOffset,
        leaderEpoch: epoch,
      } = (await client.send(OffsetForLeaderEpoch, request)).topics[0]!.partitions[0]!
      return { errorCode, endOffset, epoch }
    }
    expect(await endOf(0)).toEqual({ errorCode: 0, epoch: 0, endOffset: 2 })
    expect(await endOf(1)).toEqual({ errorCode: 0, epoch: 1, endOffset: 3 })
    expect(await endOf(2)).toEqual({ errorCode: 0, epoch: -1, endOffset: -1 })
  })
})
