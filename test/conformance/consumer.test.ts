// The consumer: where it starts and stops, batches, pausing, many partitions, and how an iteration ends.
import { describe, expect, it } from 'vitest'
import { until } from '../helpers/until.js'
import { useCluster, waitMs } from './cluster.js'
import { consumerOf, numbers, produceNumbers, producerOf, readAll, Reader, sorted, take, valueOf } from './clients.js'

const cluster = useCluster()

/** Ten records, an hour apart. */
async function tenHours(at: (hour: number) => number): Promise<string> {
  const topic = await cluster.createTopic('hours')
  await using producer = producerOf(cluster)
  await producer.send(
    topic,
    numbers(10).map((i) => ({ value: String(i), timestamp: at(i) })),
  )
  return topic
}

const inJanuary = (hour: number) => Date.UTC(2026, 0, 1, hour)

describe('from and to', () => {
  it('from the beginning to the end is everything there was at the start', async () => {
    const topic = await cluster.createTopic('everything', 3)
    await produceNumbers(cluster, topic, 300, { partitions: 3 })
    await using consumer = consumerOf(cluster, { topics: [topic], to: 'end' })
    await consumer.connect()
    await produceNumbers(cluster, topic, 30, { first: 300, partitions: 3 })
    const seen: number[] = []
    for await (const record of consumer) seen.push(valueOf(record))
    expect(sorted(seen)).toEqual(numbers(300))
  })

  it('an empty topic ends at once', async () => {
    const topic = await cluster.createTopic('empty', 2)
    expect(await readAll(cluster, topic)).toEqual([])
  })

  it('from the end gives only what comes later', async () => {
    const topic = await cluster.createTopic('later')
    await produceNumbers(cluster, topic, 5)
    await using consumer = consumerOf(cluster, { topics: [topic], from: 'end' })
    await consumer.rewind('end')
    await produceNumbers(cluster, topic, 5, { first: 5 })
    expect(await take(consumer, 5)).toEqual(numbers(5, 5))
  })

  it('offsets and times mark the start and the stop', async () => {
    const topic = await tenHours(inJanuary)
    const read = async (options: object) => (await readAll(cluster, topic, options)).map(valueOf)
    expect(await read({ from: 3, to: 7 })).toEqual([3, 4, 5, 6])
    expect(await read({ from: new Date(inJanuary(6)) })).toEqual([6, 7, 8, 9])
    expect(await read({ from: new Date(inJanuary(5) + 1), to: new Date(inJanuary(8)) })).toEqual([6, 7])
    expect(await read({ from: new Date(inJanuary(20)) })).toEqual([])
    expect(await read({ from: 'end' })).toEqual([])
  })

  it('{ ago } counts back from now', async () => {
    const now = Date.now()
    const topic = await tenHours((hour) => now - (10 - hour) * 3_600_000 + 60_000)
    const read = async (ago: string | number) => (await readAll(cluster, topic, { from: { ago } })).map(valueOf)
    expect(await read('2h')).toEqual([8, 9])
    expect(await read(5 * 3_600_000)).toEqual([5, 6, 7, 8, 9])
    expect(await read('7d')).toEqual(numbers(10))
  })

  it('chosen partitions are read, and no other', async () => {
    const topic = await cluster.createTopic('chosen', 4)
    await produceNumbers(cluster, topic, 40, { partitions: 4 })
    const partitions = [1, 3].map((partition) => ({ topic, partition }))
    await using consumer = consumerOf(cluster, { partitions, to: 'end' })
    const seen: number[] = []
    for await (const record of consumer) seen.push(valueOf(record))
    expect(sorted(seen)).toEqual(numbers(40).filter((i) => i % 2 === 1))
    expect(consumer.partitions()).toEqual(partitions)
  })

  it('several topics are read at once, in order by partition', async () => {
    const topics = await Promise.all(numbers(3).map(() => cluster.createTopic('several', 4)))
    for (const topic of topics) await produceNumbers(cluster, topic, 400, { partitions: 4 })
    await using consumer = consumerOf(cluster, { topics, to: 'end' })
    const next = new Map<string, number>()
    for await (const { topic, partition, offset } of consumer) {
      expect(offset).toBe(next.get(`${topic}/${partition}`) ?? 0)
      next.set(`${topic}/${partition}`, offset + 1)
    }
    expect([...next.values()]).toEqual(Array(12).fill(100))
  })
})

describe('an iteration', () => {
  it('gives what is written while it waits', async () => {
    const topic = await cluster.createTopic('live', 2)
    await using consumer = consumerOf(cluster, { topics: [topic], maxWaitMs: 30_000 })
    const reader = new Reader(consumer)
    await until('it reads', () => consumer.position({ topic, partition: 1 }) === 0)
    for (const first of [0, 10, 20]) {
      await produceNumbers(cluster, topic, 10, { first, partitions: 2 })
      await until('they came', () => reader.seen.length === first + 10)
    }
    expect(sorted(reader.seen)).toEqual(numbers(30))
    await reader.stop()
  })

  it('T118 goes on with the next record after a break, an error in the body and an abort', async () => {
    const topic = await cluster.createTopic('broken')
    await produceNumbers(cluster, topic, 100)
    await using consumer = consumerOf(cluster, { topics: [topic], to: 'end' })
    expect(await take(consumer, 10)).toEqual(numbers(10))
    const body = async () => {
      for await (const record of consumer) throw new Error(`at ${record.offset}`)
    }
    await expect(body()).rejects.toThrow('at 10')
    const abort = new AbortController()
    const aborted = async () => {
      for await (const record of consumer.records({ signal: abort.signal })) if (record.offset === 20) abort.abort()
    }
    await expect(aborted()).rejects.toMatchObject({ code: 'ABORTED' })
    const rest: number[] = []
    for await (const record of consumer) rest.push(valueOf(record))
    expect(rest).toEqual(numbers(79, 21))
  })

  it('T118 ends when the consumer is closed while it waits', async () => {
    const topic = await cluster.createTopic('waits')
    const consumer = consumerOf(cluster, { topics: [topic], maxWaitMs: 30_000 })
    const reader = new Reader(consumer)
    await until('it reads', () => consumer.position({ topic, partition: 0 }) === 0)
    await consumer.close()
    await reader.done
    expect(reader.seen).toEqual([])
  })

  it('batches hold up to so many records of one partition, and leave nothing out', async () => {
    const topic = await cluster.createTopic('batches', 2)
    await produceNumbers(cluster, topic, 250, { partitions: 2 })
    await using consumer = consumerOf(cluster, { topics: [topic], to: 'end' })
    const next = [0, 0]
    for await (const batch of consumer.batches({ maxRecords: 40 })) {
      expect(batch.length).toBeLessThanOrEqual(40)
      expect(batch.firstOffset).toBe(next[batch.partition])
      expect([...batch].map(({ offset }) => offset)).toEqual(numbers(batch.length, batch.firstOffset))
      next[batch.partition] = batch.lastOffset + 1
    }
    expect(next).toEqual([125, 125])
  })

  it('T37 gives a record that is larger than all of its limits', async () => {
    const topic = await cluster.createTopic('larger')
    await using producer = producerOf(cluster)
    await producer.send(topic, { value: Buffer.alloc(500_000, 'x') })
    await producer.send(topic, { value: '1' })
    const read = await readAll(cluster, topic, { maxBytes: 1000, maxPartitionBytes: 1000, prefetchBytes: 1000 })
    expect(read.map(({ value }) => value?.length)).toEqual([500_000, 1])
  })

  it('T50 nothing is lost and nothing comes twice over pause and resume', async () => {
    const topic = await cluster.createTopic('paused', 2)
    await produceNumbers(cluster, topic, 200, { partitions: 2 })
    await using consumer = consumerOf(cluster, { topics: [topic], to: 'end' })
    const one = { topic, partition: 1 }
    const seen: number[] = []
    for await (const record of consumer) {
      seen.push(valueOf(record))
      if (seen.length === 10) consumer.pause([one])
      if (consumer.isPaused(one)) {
        if (seen.length > 10) expect(record.partition).toBe(0)
        if (record.partition === 0 && record.offset === 99) consumer.resume([one])
      }
    }
    expect(sorted(seen)).toEqual(numbers(200))
  })
})

describe('topics that change', () => {
  it('partitions that are added are read from their beginning', async () => {
    const topic = await cluster.createTopic('grows')
    await using consumer = consumerOf(cluster, { topics: [topic], from: 'end', metadataMaxAgeMs: 100 })
    const added: number[] = []
    consumer.on('partitionsAdded', ({ partitions }) => void added.push(...partitions.map(({ partition }) => partition)))
    const reader = new Reader(consumer)
    await until('it reads', () => consumer.position({ topic, partition: 0 }) === 0)
    await cluster.addPartitions(topic, 3)
    await produceNumbers(cluster, topic, 30, { partitions: 3 })
    await until('all came', () => reader.seen.length === 30, waitMs)
    expect(sorted(reader.seen)).toEqual(numbers(30))
    expect(added).toEqual([1, 2])
    await reader.stop()
  })

  it('T46 a topic that is deleted and created anew is read from where the policy says, with an event', async () => {
    const topic = await cluster.createTopic('anew')
    await produceNumbers(cluster, topic, 10)
    const options = { metadataMaxAgeMs: 100, allowAutoTopicCreation: false }
    await using consumer = consumerOf(cluster, { topics: [topic], ...options })
    const resets: unknown[] = []
    consumer.on('reset', (event) => void resets.push(event))
    const reader = new Reader(consumer)
    await until('the old ones came', () => reader.seen.length === 10)
    await cluster.recreateTopic(topic)
    await produceNumbers(cluster, topic, 20, { first: 100 })
    await until('the new ones came', () => reader.seen.length === 30, waitMs)
    expect(reader.seen).toEqual([...numbers(10), ...numbers(20, 100)])
    expect(resets.length).toBeGreaterThan(0)
    await reader.stop()
  })

  it('a topic that does not exist is a typed error within the deadline', async () => {
    const topics = [cluster.name('missing')]
    await using consumer = consumerOf(cluster, { topics, allowAutoTopicCreation: false })
    await expect(consumer.connect({ timeoutMs: 1000 })).rejects.toMatchObject({ name: 'KafkaError' })
  })
})
