// The producer: what send() takes and gives, order, partitions, acks, batches, and how it ends.
import { describe, expect, it } from 'vitest'
import { SendError } from '../../src/client/producer/index.js'
import { useCluster } from './cluster.js'
import { numbers, producerOf, readAll, valueOf } from './clients.js'

const cluster = useCluster()

describe('send()', () => {
  it('takes a record, a topic with a message, and arrays of both, and tells where each record is, in order', async () => {
    const [orders, audit] = await Promise.all([cluster.createTopic('orders'), cluster.createTopic('audit')])
    await using producer = producerOf(cluster)
    const one = await producer.send({ topic: orders, key: 'a', value: '0' })
    expect(one).toMatchObject({ topic: orders, partition: 0, offset: 0 })
    expect(await producer.send(orders, { value: '1' })).toMatchObject({ offset: 1 })
    const several = await producer.send(orders, [{ value: '2' }, { value: '3' }])
    expect(several.map(({ offset }) => offset)).toEqual([2, 3])
    const mixed = await producer.send([
      { topic: orders, value: '4' },
      { topic: audit, value: 'x' },
      { topic: orders, value: '5' },
    ])
    expect(mixed.map(({ topic, offset }) => [topic, offset])).toEqual([
      [orders, 4],
      [audit, 0],
      [orders, 5],
    ])
    expect((await cluster.records(orders)).map(({ value }) => value)).toEqual(['0', '1', '2', '3', '4', '5'])
    expect(await producer.send(orders, [])).toEqual([])
  })

  it('T01 gives 50 sends at once 50 offsets, and each record is in the log once and in order', async () => {
    const topic = await cluster.createTopic('parallel')
    await using producer = producerOf(cluster)
    const results = await Promise.all(numbers(50).map((i) => producer.send(topic, { value: String(i) })))
    expect(results.map(({ offset }) => offset)).toEqual(numbers(50))
    const batches = await cluster.batches(topic)
    expect(batches.flatMap(({ records }) => records.map(({ value }) => Number(value)))).toEqual(numbers(50))
    expect(new Set(batches.map(({ producerId }) => producerId)).size).toBe(1)
    expect(batches.map(({ baseSequence }) => baseSequence)).toEqual(batches.map(({ baseOffset }) => baseOffset))
  })

  it('T01 keeps order and sequences through many small batches with five requests in flight', async () => {
    const topic = await cluster.createTopic('small-batches')
    await using producer = producerOf(cluster, { batchBytes: 2048 })
    const sent = numbers(5000).map((i) => producer.send(topic, { value: String(i) }))
    const results = await Promise.all(sent)
    expect(results.map(({ offset }) => offset)).toEqual(numbers(5000))
    const batches = await cluster.batches(topic)
    expect(batches.length).toBeGreaterThan(10)
    expect(batches.flatMap(({ records }) => records.map(({ value }) => Number(value)))).toEqual(numbers(5000))
    expect(batches.map(({ baseSequence }) => baseSequence)).toEqual(batches.map(({ baseOffset }) => baseOffset))
  })

  it.each([0, 5])('keeps the order of every key over six partitions, with lingerMs %i', async (lingerMs) => {
    const topic = await cluster.createTopic('keys', 6)
    await using producer = producerOf(cluster, { lingerMs })
    await Promise.all(numbers(3000).map((i) => producer.send(topic, { key: `key-${i % 97}`, value: String(i) })))
    const byKey = new Map<string, number[]>()
    const partitionOf = new Map<string, Set<number>>()
    for (const record of await readAll(cluster, topic)) {
      const key = String(record.key)
      byKey.set(key, [...(byKey.get(key) ?? []), valueOf(record)])
      partitionOf.set(key, (partitionOf.get(key) ?? new Set()).add(record.partition))
    }
    expect(byKey.size).toBe(97)
    for (const [key, values] of byKey) {
      const first = Number(key.slice(4))
      expect(values).toEqual(numbers(Math.ceil((3000 - first) / 97)).map((i) => first + 97 * i))
      expect(partitionOf.get(key)?.size).toBe(1)
    }
  })

  it.each(['all', 1, 0] as const)('writes with acks %s', async (acks) => {
    const topic = await cluster.createTopic('acks')
    await using producer = producerOf(cluster, { acks })
    const results = await producer.send(
      topic,
      numbers(20).map((i) => ({ value: String(i) })),
    )
    expect(results.map(({ offset }) => offset)).toEqual(acks === 0 ? Array(20).fill(-1) : numbers(20))
    await producer.close()
    const consumed = await readAll(cluster, topic, { to: 20 })
    expect(consumed.map(valueOf)).toEqual(numbers(20))
  })

  it('T09 writes to a topic that is created by asking for it', async () => {
    const topic = cluster.name('made-by-asking')
    await using producer = producerOf(cluster)
    expect(await producer.send(topic, { value: '0' })).toMatchObject({ topic, partition: 0, offset: 0 })
  })

  it('T09 T10 rejects what goes to a topic that does not exist at its deadline, and only that', async () => {
    const topic = await cluster.createTopic('exists')
    await using producer = producerOf(cluster, { allowAutoTopicCreation: false, deliveryTimeoutMs: 2000 })
    const missing = producer.send(cluster.name('missing'), { value: '0' })
    await Promise.all([
      expect(missing).rejects.toMatchObject({ maybeWritten: false }),
      expect(producer.send(topic, { value: '0' })).resolves.toMatchObject({ offset: 0 }),
    ])
    expect(await producer.send(topic, { value: '1' })).toMatchObject({ offset: 1 })
  })

  it('rejects an array with the outcome of every record', async () => {
    const topic = await cluster.createTopic('half')
    await using producer = producerOf(cluster)
    const sent = producer.send(topic, [{ value: '0' }, { value: '1', partition: 7 }, { value: '2' }], {
      timeoutMs: 2000,
    })
    const error: unknown = await sent.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(SendError)
    expect((error as SendError).results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await cluster.records(topic)).map(({ value }) => value)).toEqual(['0', '2'])
  })
})

describe('what is in a record', () => {
  it('T18 comes through with headers as they were: null, empty, twice the same, zero bytes, an empty name', async () => {
    const topic = await cluster.createTopic('headers')
    await using producer = producerOf(cluster)
    const headers = [
      { key: 'null', value: null },
      { key: 'empty', value: '' },
      { key: 'twice', value: 'one' },
      { key: 'twice', value: Buffer.of(0, 1, 0) },
      { key: '', value: 'of no name' },
      { key: 'grüße', value: 'ok ✓' },
    ] as const
    await producer.send(topic, { value: 'v', headers })
    await producer.send(topic, { value: 'v', headers: { trace: 'abc' } })
    await producer.send(topic, { value: 'v' })
    const [all, fromObject, none] = await readAll(cluster, topic)
    const expected = headers.map(({ key, value }) => ({ key, value: value === null ? null : Buffer.from(value) }))
    expect(all?.headers).toEqual(expected)
    expect((await cluster.records(topic))[0]?.headers).toEqual(expected)
    expect(fromObject?.headers).toEqual([{ key: 'trace', value: Buffer.from('abc') }])
    expect(none?.headers).toEqual([])
  })

  it('T19 tells null from empty, in keys and in values', async () => {
    const topic = await cluster.createTopic('nothing')
    await using producer = producerOf(cluster)
    await producer.send(topic, [
      { key: null, value: null },
      { key: '', value: '' },
      { key: Buffer.alloc(0), value: null },
      { value: Buffer.alloc(0) },
    ])
    const read = (await readAll(cluster, topic)).map(({ key, value }) => [key, value])
    const empty = Buffer.alloc(0)
    expect(read).toEqual([
      [null, null],
      [empty, empty],
      [empty, null],
      [null, empty],
    ])
  })

  it('T14 keeps the timestamp that was given, or gets the time of appending where the topic says so', async () => {
    const [own, appended] = await Promise.all([
      cluster.createTopic('create-time'),
      cluster.createTopic('append-time', 1, { 'message.timestamp.type': 'LogAppendTime' }),
    ])
    await using producer = producerOf(cluster)
    const at = new Date('2026-11-29T12:00:00Z')
    const before = Date.now()
    expect(await producer.send(own, { value: '0', timestamp: at })).toMatchObject({ timestamp: at.getTime() })
    const { timestamp } = await producer.send(appended, { value: '0', timestamp: at })
    expect(timestamp).toBeGreaterThanOrEqual(before)
    expect((await readAll(cluster, own))[0]?.timestamp).toBe(at.getTime())
    const [record] = await readAll(cluster, appended)
    expect(record?.timestamp).toBe(timestamp)
  })
})

describe('what a broker refuses', () => {
  it('T12 a record that is too large rejects with MESSAGE_TOO_LARGE, and its neighbours arrive', async () => {
    const topic = await cluster.createTopic('limited', 1, { 'max.message.bytes': '1000' })
    await using producer = producerOf(cluster, { batchBytes: 500 })
    const sent = [200, 2000, 200].map((length, i) => producer.send(topic, { value: String(i).repeat(length) }))
    const outcomes = await Promise.allSettled(sent)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    await expect(sent[1]).rejects.toMatchObject({ code: 'MESSAGE_TOO_LARGE', maybeWritten: false })
    expect(await producer.send(topic, { value: '3' })).toMatchObject({ offset: 2 })
    expect((await cluster.records(topic)).map(({ value }) => value?.[0])).toEqual(['0', '2', '3'])
  })

  it('T13 a record without a key on a compacted topic rejects with INVALID_RECORD', async () => {
    const topic = await cluster.createTopic('compacted', 1, { 'cleanup.policy': 'compact' })
    await using producer = producerOf(cluster)
    await expect(producer.send(topic, { value: 'no key' })).rejects.toMatchObject({ code: 'INVALID_RECORD' })
    expect(await producer.send(topic, { key: 'k', value: 'v' })).toMatchObject({ offset: 0 })
  })

  it('T14 a timestamp too far ahead rejects with INVALID_TIMESTAMP', async () => {
    const topic = await cluster.createTopic('ahead', 1, { 'message.timestamp.after.max.ms': '3600000' })
    await using producer = producerOf(cluster)
    const ahead = producer.send(topic, { value: 'micros', timestamp: Date.now() * 1000 })
    await expect(ahead).rejects.toMatchObject({ code: 'INVALID_TIMESTAMP' })
    expect(await producer.send(topic, { value: 'now' })).toMatchObject({ offset: 0 })
  })

  it('min.insync.replicas counts no further than there are replicas', async () => {
    const topic = await cluster.createTopic('too-safe', 1, { 'min.insync.replicas': '4' })
    await using producer = producerOf(cluster)
    expect(await producer.send(topic, { value: '0' })).toMatchObject({ offset: 0 })
  })
})

describe('batches', () => {
  it('T22 sends 100 records of one turn in one batch with lingerMs 20', async () => {
    const topic = await cluster.createTopic('linger')
    await using producer = producerOf(cluster, { lingerMs: 20 })
    await producer.send(topic, { value: 'metadata is known from here on' })
    await Promise.all(numbers(100).map((i) => producer.send(topic, { value: String(i) })))
    expect((await cluster.batches(topic)).map(({ records }) => records.length)).toEqual([1, 100])
  })

  it('takes records of hundreds of kilobytes', async () => {
    const topic = await cluster.createTopic('large')
    await using producer = producerOf(cluster)
    const values = numbers(8).map((i) => Buffer.alloc(100_000 * (i + 1), i))
    await Promise.all(values.map((value) => producer.send(topic, { value })))
    const read = await readAll(cluster, topic, { maxPartitionBytes: 100_000 })
    expect(read.map(({ value }) => value?.equals(values[value[0] as number] as Buffer))).toEqual(Array(8).fill(true))
    expect(read.map(({ value }) => value?.length)).toEqual(values.map(({ length }) => length))
  })

  it('holds no more than bufferBytes, and loses nothing by it', async () => {
    const topic = await cluster.createTopic('bounded', 3)
    await using producer = producerOf(cluster, { bufferBytes: 100_000, batchBytes: 10_000 })
    let most = 0
    const value = Buffer.alloc(1000, 1)
    const sent = numbers(1000).map((i) => {
      const one = producer.send(topic, { value, partition: i % 3 })
      most = Math.max(most, producer.bufferedBytes)
      return one
    })
    const results = await Promise.all(sent)
    expect(most).toBeLessThanOrEqual(100_000)
    expect(results).toHaveLength(1000)
    expect(await readAll(cluster, topic)).toHaveLength(1000)
  })
})

describe('the end', () => {
  it('flush() resolves when everything has its outcome, and does not wait for the linger', async () => {
    const topic = await cluster.createTopic('flushed')
    await using producer = producerOf(cluster, { lingerMs: 60_000 })
    const sent = numbers(10).map((i) => producer.send(topic, { value: String(i) }))
    await producer.flush()
    expect(await cluster.records(topic)).toHaveLength(10)
    expect((await Promise.all(sent)).map(({ offset }) => offset)).toEqual(numbers(10))
    expect(producer.bufferedBytes).toBe(0)
  })

  it('T20 close() delivers what is here, twice is once, and afterwards a send rejects with CLOSED', async () => {
    const topic = await cluster.createTopic('closed')
    const producer = producerOf(cluster, { lingerMs: 60_000 })
    const sent = numbers(10).map((i) => producer.send(topic, { value: String(i) }))
    await Promise.all([producer.close(), producer.close()])
    expect((await Promise.all(sent)).map(({ offset }) => offset)).toEqual(numbers(10))
    await expect(producer.send(topic, { value: 'late' })).rejects.toMatchObject({ code: 'CLOSED' })
    expect(await cluster.records(topic)).toHaveLength(10)
  })

  it('T21 a send that is aborted before it is sent is not in the log, and the others are', async () => {
    const topic = await cluster.createTopic('aborted')
    await using producer = producerOf(cluster, { lingerMs: 60_000 })
    const abort = new AbortController()
    const first = producer.send(topic, { value: '0' })
    const second = producer.send(topic, { value: '1' }, { signal: abort.signal })
    const third = producer.send(topic, { value: '2' })
    abort.abort()
    await expect(second).rejects.toMatchObject({ code: 'ABORTED', maybeWritten: false })
    await producer.flush()
    await Promise.all([first, third])
    expect((await cluster.records(topic)).map(({ value }) => value)).toEqual(['0', '2'])
  })
})
