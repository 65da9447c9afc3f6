import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  all,
  brokerWith,
  fill,
  numbered,
  offsets,
  putInLog,
  reader,
  take,
  turns,
  until,
  values,
} from './consumer-helpers.js'
import { systemClock } from '../../../src/util/clock.js'
import { craft, range } from './crafted-batch.js'

const at = (partition: number, name = 'orders') => ({ topic: name, partition })

describe('iterating', () => {
  test('T118 after break, or an error in the body, the next iteration goes on with the next record', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 20)
    await using consumer = reader(kafka, { to: 'end' })
    expect(values(await take(consumer, 5))).toEqual(numbered(0, 4))
    const failing = (async () => {
      for await (const record of consumer) throw new Error(String(record.value))
    })()
    await expect(failing).rejects.toThrow('v5')
    const [batch] = await take(consumer.batches({ maxRecords: 4 }), 1)
    expect(values([...batch!])).toEqual(numbered(6, 9))
    expect(values(await all(consumer))).toEqual(numbered(10, 19))
  })

  test('T118 next() called several times at once gives the records in order, each once', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using consumer = reader(kafka)
    const records = consumer.records()
    const pending = Array.from({ length: 6 }, () => records.next())
    await fill(kafka, 6)
    expect((await Promise.all(pending)).map(({ value }) => String(value!.value))).toEqual(numbered(0, 5))
    await records.return!()
  })

  test('T118 a second iteration at the same time is refused, the first one goes on', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 3)
    await using consumer = reader(kafka)
    const first = consumer.records()
    expect(String((await first.next()).value!.value)).toBe('v0')
    await expect(consumer.records().next()).rejects.toMatchObject({ name: 'UsageError' })
    await expect(consumer.batches().next()).rejects.toThrow('it is being iterated already')
    expect(String((await first.next()).value!.value)).toBe('v1')
    expect(await first.return!()).toEqual({ value: undefined, done: true })
    expect(await first.next()).toEqual({ value: undefined, done: true })
    expect(values(await take(consumer, 1))).toEqual(['v2'])
  })

  test('T118 a waiting next() ends by its signal, and the consumer can be iterated again', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using consumer = reader(kafka)
    const controller = new AbortController()
    const records = consumer.records({ signal: controller.signal })
    const waiting = records.next()
    await until(() => consumer.position(at(0)) !== undefined)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED', cause: new Error('enough') })
    await expect(consumer.records({ signal: controller.signal }).next()).rejects.toMatchObject({ code: 'ABORTED' })
    await fill(kafka, 1)
    expect(values(await take(consumer, 1))).toEqual(['v0'])
  })

  test('T118 close() and return() end a waiting next()', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using consumer = reader(kafka)
    const records = consumer.records()
    const waiting = records.next()
    await until(() => consumer.position(at(0)) !== undefined)
    await records.return!()
    expect(await waiting).toEqual({ value: undefined, done: true })
    const other = consumer.records().next()
    await turn()
    await consumer.close()
    expect(await other).toEqual({ value: undefined, done: true })
  })

  test('T113 iterating with one signal, over and over, leaves no listener at it', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 50)
    await using consumer = reader(kafka)
    const controller = new AbortController()
    for (let i = 0; i < 50; i++) await take(consumer.records({ signal: controller.signal }), 1)
    expect(getEventListeners(controller.signal, 'abort').length).toBe(0)
  })

  test('a loop over buffered records lets timers and sockets have their turn', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    putInLog(kafka, [craft({ base: 0, offsets: range(0, 2999) })])
    let now = 0
    await using consumer = reader(kafka, { to: 'end', clock: { ...systemClock, now: () => now } })
    let count = 0
    let isOver = false
    const onTurn = () => {
      count++
      if (!isOver) setImmediate(onTurn)
    }
    for await (const record of consumer) {
      if (record.offset === 0) setImmediate(onTurn)
      now += 1
    }
    isOver = true
    // About one for every 64 records, which take 64 ms here.
    expect(count).toBeGreaterThan(3000 / 64 / 2)
  })
})

describe('pause and resume', () => {
  test('T50 what was fetched before the pause comes after it, nothing lost, nothing twice', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    await fill(kafka, 100)
    await using consumer = reader(kafka, { topics: ['orders'] })
    const seen: string[] = []
    for await (const record of consumer) {
      seen.push(String(record.value))
      if (seen.length === 10) {
        consumer.pause([at(0)])
        await fill(kafka, 5, { partition: 1, from: 1000 })
      }
      if (seen.length === 15) {
        expect(seen.slice(10)).toEqual(numbered(1000, 1004))
        expect(consumer.isPaused(at(0))).toBe(true)
        expect(consumer.position(at(0))).toBe(10)
        consumer.resume([at(0)])
      }
      if (seen.length === 105) break
    }
    expect(seen.slice(15)).toEqual(numbered(10, 99))
  })

  test('T50 resume() gives a waiting reader the buffered record in the same turn', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 2)
    await using consumer = reader(kafka, { maxWaitMs: 60_000 })
    const records = consumer.records()
    await records.next()
    consumer.pause()
    const waiting = records.next()
    await turn()
    let isHere = false
    waiting.then(
      () => (isHere = true),
      () => {},
    )
    await turn()
    expect(isHere).toBe(false)
    consumer.resume()
    await turn()
    expect(isHere).toBe(true)
    await records.return!()
  })

  test('T49 while everything is paused nothing is fetched', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    await using consumer = reader(kafka, { maxWaitMs: 20_000 })
    const records = consumer.records()
    const next = records.next()
    const fetches = () => kafka.requests.filter(({ api }) => api === 'Fetch').length
    await until(() => fetches() === 1)
    consumer.pause()
    kafka.clock.advance(20_000)
    await turns(50)
    expect(fetches()).toBe(1)
    consumer.resume()
    await until(() => fetches() === 2)
    await records.return!()
    await next
  })

  test('T52 partitions paused before their start offsets are known stay paused', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    for (const partition of [0, 1]) await fill(kafka, 3, { partition })
    await using consumer = reader(kafka)
    await consumer.connect()
    expect(consumer.position(at(0))).toBeUndefined()
    consumer.pause([at(0)])
    expect((await take(consumer, 3)).map(({ partition }) => partition)).toEqual([1, 1, 1])
    consumer.resume([at(0)])
    expect((await take(consumer, 3)).map(({ partition }) => partition)).toEqual([0, 0, 0])
  })

  test('what paused partitions have buffered does not keep the others from being fetched', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    const batches = Array.from({ length: 40 }, (_, i) =>
      craft({ base: i, offsets: [i], value: () => 'x'.repeat(1000) }),
    )
    putInLog(kafka, batches, 'orders', 0)
    await using consumer = reader(kafka, { prefetchBytes: 10_000, maxPartitionBytes: 10_000 })
    expect(offsets(await take(consumer, 1))).toEqual([0])
    consumer.pause([at(0)])
    putInLog(kafka, batches, 'orders', 1)
    expect(offsets(await take(consumer, 40))).toEqual(range(0, 39))
    consumer.resume()
    expect(offsets(await take(consumer, 39))).toEqual(range(1, 39))
  })
})

describe('seek and rewind', () => {
  test('T51 a seek while a fetch is on its way: what comes is from the new position', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 30)
    await using consumer = reader(kafka, { from: 'end' })
    const records = consumer.records()
    const next = records.next()
    await until(() => kafka.requests.some(({ api }) => api === 'Fetch'))
    consumer.seek(at(0), 25)
    expect(String((await next).value!.value)).toBe('v25')
    consumer.seek(at(0), 3)
    consumer.seek(at(0), 28)
    expect(String((await records.next()).value!.value)).toBe('v28')
    consumer.seek(at(0), 'beginning')
    expect(consumer.position(at(0))).toBeUndefined()
    expect(String((await records.next()).value!.value)).toBe('v0')
    await records.return!()
  })

  test('T51 a seek during the lookup of the start offset wins', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await fill(kafka, 30)
    const fault = kafka.faults.add({ api: 'ListOffsets', delayMs: 20_000 })
    await using consumer = reader(kafka)
    await consumer.connect()
    await until(() => fault.hits > 0)
    consumer.seek(at(0), 20)
    expect(offsets(await take(consumer, 2))).toEqual([20, 21])
    kafka.clock.advance(20_000)
    await turns(50)
    expect(consumer.position(at(0))).toBe(22)
  })

  test('T51 a seek, pause or resume of a partition that is not read here is an error that says what is', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    await using consumer = reader(kafka)
    await consumer.connect()
    const wrong = { code: 'NOT_ASSIGNED', name: 'UsageError' }
    expect(() => {
      consumer.seek(at(5), 0)
    }).toThrow(expect.objectContaining(wrong))
    expect(() => {
      consumer.pause([at(0), at(1)])
    }).toThrow('orders-1 is not assigned here; assigned are orders-0')
    expect(() => {
      consumer.resume([at(0, 'other')])
    }).toThrow(expect.objectContaining(wrong))
    expect(consumer.isPaused(at(0))).toBe(false)
  })

  test('seek takes a record, and its partition is read again from there', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    await fill(kafka, 5)
    await fill(kafka, 5, { partition: 1 })
    await using consumer = reader(kafka)
    const records = await take(consumer, 10)
    const third = records.filter(({ partition }) => partition === 1)[2]!
    consumer.seek(third, third.offset)
    expect(offsets(await take(consumer, 3))).toEqual([2, 3, 4])
  })

  test('rewind goes to the beginning, the end, an offset, a time or a stretch before now, in all partitions', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    const hour = 3_600_000
    for (const partition of [0, 1]) {
      putInLog(
        kafka,
        [2, 1, 0].map((hours, i) => craft({ base: i, offsets: [i], timestamp: Date.now() - hours * hour })),
        'orders',
        partition,
      )
    }
    await using consumer = reader(kafka)
    const positions = () => [0, 1].map((partition) => consumer.position(at(partition)))
    await consumer.rewind('end')
    expect(positions()).toEqual([3, 3])
    await consumer.rewind('beginning')
    expect(positions()).toEqual([0, 0])
    await consumer.rewind(1)
    expect(positions()).toEqual([1, 1])
    await consumer.rewind(new Date(Date.now() - hour / 2))
    expect(positions()).toEqual([2, 2])
    await consumer.rewind({ ago: '90m' })
    expect(positions()).toEqual([1, 1])
    expect(offsets(await take(consumer, 4)).sort()).toEqual([1, 1, 2, 2])
  })

  test('lag is what is between position and end; T34 with a marker at the end it is 0', async () => {
    await using kafka = await brokerWith({ orders: 1 })
    putInLog(kafka, [
      craft({ base: 0, offsets: range(0, 9), transactional: true, producerId: 7 }),
      craft({ base: 10, marker: 'commit', producerId: 7 }),
    ])
    await using consumer = reader(kafka)
    expect(await consumer.lag()).toEqual([{ ...at(0), position: 0, end: 11, lag: 11 }])
    await take(consumer, 4)
    expect(await consumer.lag()).toEqual([{ ...at(0), position: 4, end: 11, lag: 7 }])
    const records = consumer.records()
    for (let i = 4; i < 10; i++) await records.next()
    const waiting = records.next()
    await until(() => consumer.position(at(0)) === 11)
    expect(await consumer.lag()).toEqual([{ ...at(0), position: 11, end: 11, lag: 0 }])
    await records.return!()
    await waiting
  })

  test('offsetsForTimes finds the first record at or after a time, or none', async () => {
    await using kafka = await brokerWith({ orders: 2 })
    putInLog(kafka, [
      craft({ base: 0, offsets: [0], timestamp: 1000 }),
      craft({ base: 1, offsets: [1], timestamp: 2000 }),
    ])
    await using consumer = reader(kafka)
    expect(await consumer.offsetsForTimes(1500)).toEqual([
      { ...at(0), offset: 1, timestamp: 2000, leaderEpoch: 0 },
      { ...at(1), offset: null, timestamp: null, leaderEpoch: -1 },
    ])
    expect(await consumer.offsetsForTimes(new Date(0), { partitions: [at(0)] })).toMatchObject([{ offset: 0 }])
    await expect(consumer.offsetsForTimes(NaN)).rejects.toMatchObject({ name: 'UsageError' })
  })
})
