// Positions: seek and rewind, offsets at a time, lag, and what happens when the log does not hold a position any more.
import { describe, expect, it } from 'vitest'
import type { OutOfRangePolicy, PositionResetEvent, StartPosition } from '../../src/client/consumer/index.js'
import { until } from '../helpers/until.js'
import { useCluster } from './cluster.js'
import { consumerOf, numbers, produceNumbers, producerOf, Reader, sorted, take, valueOf } from './clients.js'

const cluster = useCluster()

describe('seek and rewind', () => {
  it('seek goes on elsewhere in one partition, and leaves the others', async () => {
    const topic = await cluster.createTopic('sought', 2)
    await produceNumbers(cluster, topic, 200, { partitions: 2 })
    await using consumer = consumerOf(cluster, { topics: [topic], to: 'end' })
    const offsets: number[][] = [[], []]
    let hasSought = false
    for await (const { partition, offset } of consumer) {
      offsets[partition]?.push(offset)
      if (partition === 0 && offset === 50 && !hasSought) {
        hasSought = true
        consumer.seek({ topic, partition: 0 }, 20)
        expect(consumer.position({ topic, partition: 0 })).toBe(20)
      }
    }
    expect(offsets).toEqual([[...numbers(51), ...numbers(80, 20)], numbers(100)])
  })

  it('T51 a seek beats the fetch that is under way, and the start that is not known yet', async () => {
    const topic = await cluster.createTopic('beaten')
    await produceNumbers(cluster, topic, 100)
    await using consumer = consumerOf(cluster, { topics: [topic] })
    await consumer.connect()
    consumer.seek({ topic, partition: 0 }, 70)
    expect(await take(consumer, 3)).toEqual([70, 71, 72])
    for (const to of [10, 90, 5, 60]) {
      consumer.seek({ topic, partition: 0 }, to)
      expect(await take(consumer, 2)).toEqual([to, to + 1])
    }
    expect(() => consumer.seek({ topic, partition: 1 }, 0)).toThrow(expect.objectContaining({ code: 'NOT_ASSIGNED' }))
  })

  it('rewind goes to the beginning, the end, an offset and a time, in all partitions', async () => {
    const topic = await cluster.createTopic('rewound', 2)
    const at = (i: number) => Date.UTC(2026, 0, 1, 0, i)
    await using producer = producerOf(cluster)
    await producer.send(
      topic,
      numbers(100).map((i) => ({ value: String(i), partition: i % 2, timestamp: at(i) })),
    )
    await using consumer = consumerOf(cluster, { topics: [topic] })
    const positions = () => [0, 1].map((partition) => consumer.position({ topic, partition }))
    await consumer.rewind('end')
    expect(positions()).toEqual([50, 50])
    await consumer.rewind(10)
    expect(positions()).toEqual([10, 10])
    await consumer.rewind(new Date(at(61)))
    expect(positions()).toEqual([31, 30])
    expect(sorted(await take(consumer, 39))).toEqual(numbers(39, 61))
    await consumer.rewind('beginning')
    expect(sorted(await take(consumer, 100))).toEqual(numbers(100))
  })

  it('positions, lag and the offsets at a time are those of the log', async () => {
    const topic = await cluster.createTopic('measured', 2)
    const at = (i: number) => Date.UTC(2026, 0, 1, 0, i)
    await using producer = producerOf(cluster)
    await producer.send(
      topic,
      numbers(10).map((i) => ({ value: String(i), partition: 0, timestamp: at(i) })),
    )
    await using consumer = consumerOf(cluster, { topics: [topic] })
    expect(await take(consumer, 4)).toEqual([0, 1, 2, 3])
    expect(await consumer.lag()).toEqual([
      { topic, partition: 0, position: 4, end: 10, lag: 6 },
      { topic, partition: 1, position: 0, end: 0, lag: 0 },
    ])
    const found = await consumer.offsetsForTimes(new Date(at(6) - 1))
    expect(found).toMatchObject([
      { topic, partition: 0, offset: 6, timestamp: at(6) },
      { topic, partition: 1, offset: null, timestamp: null },
    ])
    expect(await consumer.offsetsForTimes(at(10), { partitions: [{ topic, partition: 0 }] })).toMatchObject([
      { offset: null },
    ])
  })
})

describe('a position that the log does not hold', () => {
  /** 100 records of which the first 40 are deleted, read from `from`. */
  const shortened = async (from: StartPosition, outOfRange: OutOfRangePolicy) => {
    const topic = await cluster.createTopic('shortened')
    await using producer = producerOf(cluster)
    const now = Date.now()
    await producer.send(
      topic,
      numbers(100).map((i) => ({ value: String(i), timestamp: now - (100 - i) * 60_000 })),
    )
    await cluster.deleteRecords(topic, 0, 40)
    const consumer = consumerOf(cluster, { topics: [topic], from, outOfRange })
    const resets: PositionResetEvent[] = []
    consumer.on('reset', (event) => void resets.push(event))
    return { topic, consumer, resets }
  }

  it.each([
    ['beginning', 40],
    ['nearest', 40],
    [{ ago: '20m' }, 81],
  ] as const)('T40 before its beginning goes on by %j, with an event', async (policy, expected) => {
    const { topic, consumer, resets } = await shortened(10, policy)
    await using _ = consumer
    const [first] = await take(consumer, 1)
    expect(Math.abs((first as number) - expected)).toBeLessThanOrEqual(1) // a minute may pass while this runs
    expect(resets).toMatchObject([{ topic, partition: 0 }])
  })

  it('T40 before its beginning goes to the end by the policy, and reads what comes then', async () => {
    const { topic, consumer, resets } = await shortened(10, 'end')
    await using _ = consumer
    const reader = new Reader(consumer)
    await until('it is at the end', () => consumer.position({ topic, partition: 0 }) === 100)
    await produceNumbers(cluster, topic, 3, { first: 100 })
    await until('three came', () => reader.seen.length === 3)
    expect(reader.seen).toEqual([100, 101, 102])
    expect(resets).toHaveLength(1)
    await reader.stop()
  })

  it('T40 throws OFFSET_OUT_OF_RANGE by the policy, once, and can be sought elsewhere', async () => {
    const { topic, consumer, resets } = await shortened(10, 'error')
    await using _ = consumer
    await expect(take(consumer, 1)).rejects.toMatchObject({ code: 'OFFSET_OUT_OF_RANGE' })
    consumer.seek({ topic, partition: 0 }, 40)
    expect(await take(consumer, 2)).toEqual([40, 41])
    expect(resets).toEqual([])
  })

  it('beyond its end goes on by the nearest end', async () => {
    const { topic, consumer } = await shortened(5000, 'nearest')
    await using _ = consumer
    const reader = new Reader(consumer)
    await until('it is at the end', () => consumer.position({ topic, partition: 0 }) === 100)
    await produceNumbers(cluster, topic, 1, { first: 100 })
    await until('it came', () => reader.seen.length === 1)
    expect(reader.seen).toEqual([100])
    await reader.stop()
  })

  it('records that are deleted ahead of the reader are passed over', async () => {
    const topic = await cluster.createTopic('overtaken')
    await using producer = producerOf(cluster)
    await producer.send(
      topic,
      numbers(100).map((i) => ({ value: String(i).padEnd(20_000) })),
    )
    // Small answers, so that most of it is not fetched yet when it is deleted.
    const limits = { maxPartitionBytes: 1000, maxBytes: 1000, prefetchBytes: 1000 }
    await using consumer = consumerOf(cluster, { topics: [topic], outOfRange: 'beginning', ...limits })
    expect(await take(consumer, 1)).toEqual([0])
    await cluster.deleteRecords(topic, 0, 90)
    const seen: number[] = []
    for await (const record of consumer) {
      seen.push(valueOf(record))
      if (record.offset === 99) break
    }
    expect(seen.slice(-10)).toEqual(numbers(10, 90))
  })
})
