// What a record may hold, and how batches go out.
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import { startBroker, type BrokerCluster, type StartBrokerOptions } from '../../../src/broker.js'
import {
  int64,
  json,
  Producer,
  SendError,
  string,
  topic,
  type ProducerOptions,
  type RecordMetadata,
} from '../../../src/index.js'
import { until } from '../../helpers/until.js'

let kafka: BrokerCluster
let producer: Producer

async function start(options: Partial<ProducerOptions> = {}, broker: StartBrokerOptions = { topics: { orders: 1 } }) {
  kafka = await startBroker(broker)
  producer = new Producer({ brokers: kafka.brokers, logger: 'silent', ...options })
}

afterEach(async () => {
  await producer.close({ timeoutMs: 100 })
  await kafka.close()
})

const logged = () => kafka.topic('orders').records(0)
const produceRequests = () => kafka.requests.filter(({ api }) => api === 'Produce')

it('T18 headers keep their order, duplicates, null and empty values, and bytes', async () => {
  await start()
  const headers = [
    { key: 'b', value: 'text' },
    { key: 'a', value: null },
    { key: 'b', value: Buffer.from([0, 255, 0]) },
    { key: '', value: '' },
    { key: 'ключ', value: 'значение' },
  ]
  await producer.send('orders', { value: 'v', headers })
  await producer.send('orders', { value: 'v', headers: { one: '1', none: null } })
  const [first, second] = await logged()
  expect(first?.headers).toEqual([
    { key: 'b', value: Buffer.from('text') },
    { key: 'a', value: null },
    { key: 'b', value: Buffer.from([0, 255, 0]) },
    { key: '', value: Buffer.alloc(0) },
    { key: 'ключ', value: Buffer.from('значение') },
  ])
  expect(second?.headers).toEqual([
    { key: 'one', value: Buffer.from('1') },
    { key: 'none', value: null },
  ])
})

it('T18 an undefined header value is refused', async () => {
  await start()
  const headers = { trace: undefined as unknown as string }
  await expect(producer.send('orders', { value: 'v', headers })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})

it('T19 null and empty stay different, and serdes never see null', async () => {
  await start()
  const seen: unknown[] = []
  const spying = {
    serialize: (value: string) => {
      seen.push(value)
      return value
    },
    deserialize: String,
  }
  const typed = topic('orders', { key: spying, value: spying })
  await producer.send(typed, [{ value: null }, { key: '', value: '' }, { key: null, value: 'v', headers: [] }])
  expect((await logged()).map(({ key, value }) => [key, value])).toEqual([
    [null, null],
    [Buffer.alloc(0), Buffer.alloc(0)],
    [null, Buffer.from('v')],
  ])
  expect(seen).toEqual(['', '', 'v'])
})

it('typed topics take their own types, and arrays give an array', async () => {
  await start()
  interface Order {
    readonly id: number
  }
  const orders = topic('orders', { key: string(), value: json<Order>() })
  const counts = topic('orders', { value: int64() })
  const one = producer.send(orders, { key: 'c-7', value: { id: 1 } })
  expectTypeOf(one).toEqualTypeOf<Promise<RecordMetadata>>()
  const many = producer.send(orders, [{ value: { id: 2 } }, { value: { id: 3 } }])
  expectTypeOf(many).toEqualTypeOf<Promise<RecordMetadata[]>>()
  await producer.send(counts, { value: 258n })
  await producer.send([{ topic: orders, value: { id: 4 } }])
  await producer.send({ topic: 'orders', key: 'c-7', value: 'raw', headers: { trace: '1' } })
  // @ts-expect-error -- the value is no Order
  await producer.send(orders, { value: 'text' })
  // @ts-expect-error -- the key is no string
  const refused = () => producer.send(orders, { key: 7, value: { id: 1 } })
  await expect(refused()).rejects.toThrow('the value must be a string, got 7')
  expect((await one).offset).toBe(0)
  expect((await many).map(({ offset }) => offset)).toEqual([1, 2])
  const values = (await logged()).map(({ value }) => value?.toString('latin1'))
  expect(values).toEqual(['{"id":1}', '{"id":2}', '{"id":3}', '\0\0\0\0\0\0\x01\x02', '{"id":4}', 'raw', '"text"'])
})

describe('an array', () => {
  it('resolves with the places of its records in the order given, over topics and partitions', async () => {
    await start({}, { topics: { a: 2, b: 1 } })
    const sent = await producer.send([
      { topic: 'a', partition: 1, value: '0', timestamp: 5 },
      { topic: 'b', value: '1', timestamp: new Date(6) },
      { topic: 'a', partition: 1, value: '2', timestamp: 7 },
    ])
    expect(sent).toEqual([
      { topic: 'a', partition: 1, offset: 0, timestamp: 5 },
      { topic: 'b', partition: 0, offset: 0, timestamp: 6 },
      { topic: 'a', partition: 1, offset: 1, timestamp: 7 },
    ])
    expect(await producer.send([])).toEqual([])
  })

  it('of which some fail rejects with what became of each', async () => {
    await start()
    const error = (await producer
      .send('orders', [
        { value: '0' },
        { value: '1', partition: 7 },
        { value: undefined as unknown as string },
        { value: '3' },
      ])
      .catch((thrown: unknown) => thrown)) as SendError
    expect(error).toBeInstanceOf(SendError)
    expect(error).toMatchObject({ name: 'SendError', code: 'INVALID_ARGUMENT', maybeWritten: false })
    expect(error.message).toContain('2 of 4 records')
    expect(error.results).toMatchObject([
      { status: 'fulfilled', value: { offset: 0 } },
      { status: 'rejected', reason: { code: 'INVALID_ARGUMENT' } },
      { status: 'rejected', reason: { code: 'INVALID_ARGUMENT' } },
      { status: 'fulfilled', value: { offset: 1 } },
    ])
  })

  it('T13 of which the broker refuses a record: that one has its reason, the others know why', async () => {
    await start({}, { topics: { orders: 1 }, config: { 'log.cleanup.policy': 'compact' } })
    const error = (await producer
      .send('orders', [{ key: 'a', value: '0' }, { value: 'no key' }, { key: 'b', value: '2' }])
      .catch((thrown: unknown) => thrown)) as SendError
    const reasons = error.results.map((result) => (result.status === 'rejected' ? result.reason : undefined))
    expect(reasons.map((reason) => reason?.code)).toEqual(['INVALID_RECORD', 'INVALID_RECORD', 'INVALID_RECORD'])
    expect(reasons[0]?.message).toContain('for the sake of record 1')
    expect(reasons[1]?.message).not.toContain('for the sake of')
    expect(await logged()).toEqual([])
    expect(await producer.send('orders', { key: 'a', value: '0' })).toMatchObject({ offset: 0 })
  })
})

describe('T22 lingering', () => {
  it('T22 a hundred sends in a turn are one request', async () => {
    await start({ lingerMs: 20 })
    await producer.send('orders', { value: 'warm up' })
    await Promise.all(Array.from({ length: 100 }, (_, i) => producer.send('orders', { value: `${i}` })))
    expect(produceRequests()).toHaveLength(2)
  })

  it('T22 without lingering too, and the next awaited send does not wait for anything', async () => {
    await start()
    await producer.send('orders', { value: 'warm up' })
    await Promise.all(Array.from({ length: 100 }, (_, i) => producer.send('orders', { value: `${i}` })))
    expect(produceRequests()).toHaveLength(2)
    for (let i = 0; i < 5; i++) await producer.send('orders', { value: 'one after another' })
    expect(produceRequests()).toHaveLength(7)
  })

  it('T22 lingering is counted from the first record, not begun again by each', async () => {
    await start({ lingerMs: 40 })
    await producer.send('orders', { value: 'warm up' })
    let isWritten = false
    const first = producer.send('orders', { value: 'first' }).then(() => (isWritten = true))
    await until('the first is written while others keep coming', () => {
      if (!isWritten) void producer.send('orders', { value: 'more' }).catch(() => {})
      return isWritten
    })
    expect(await first).toBe(true)
    await producer.flush()
  })
})

describe('T23 acks 0', () => {
  it('T23 resolves when the record has left, without an offset', async () => {
    await start({ acks: 0 })
    const sent = await Promise.all(Array.from({ length: 20 }, (_, i) => producer.send('orders', { value: `${i}` })))
    expect(new Set(sent.map(({ offset }) => offset))).toEqual(new Set([-1]))
    await until('all are in the log', async () => (await logged()).length === 20)
    await producer.send('orders', { value: 'one more' })
    await until('it is in the log', async () => (await logged()).length === 21)
  })

  it('T23 acks 1 gives an offset', async () => {
    await start({ acks: 1 })
    expect(await producer.send('orders', { value: 'v' })).toMatchObject({ offset: 0 })
    expect((await logged())[0]).toMatchObject({ producerId: -1 })
  })
})

it('T24 a throttled producer pauses, tells so, loses nothing to its request timeout and recovers', async () => {
  await start({ requestTimeoutMs: 150 })
  const throttled: number[] = []
  producer.on('throttled', ({ throttleTimeMs }) => throttled.push(throttleTimeMs))
  await producer.send('orders', { value: '0' })
  kafka.faults.add({ api: 'Produce', times: 1, throttleMs: 300 })
  const sent = await Promise.all([1, 2, 3].map((i) => producer.send('orders', { value: `${i}` })))
  expect(sent.map(({ offset }) => offset)).toEqual([1, 2, 3])
  expect(await producer.send('orders', { value: '4' })).toMatchObject({ offset: 4 })
  expect(throttled).toEqual([300])
})

it.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)('compression %s', async (compression) => {
  await start({ compression })
  const values = Array.from({ length: 50 }, (_, i) => `the same again and again ${i}`)
  await producer.send(
    'orders',
    values.map((value) => ({ value })),
  )
  expect((await logged()).map(({ value }) => String(value))).toEqual(values)
  expect((await kafka.topic('orders').batches(0))[0]).toMatchObject({ compression, recordCount: 50 })
})

it('the time of appending replaces the timestamps where the topic says so', async () => {
  await start({}, { topics: { orders: 1 }, config: { 'log.message.timestamp.type': 'LogAppendTime' } })
  const { timestamp } = await producer.send('orders', { value: 'v', timestamp: 5 })
  expect(timestamp).toBeGreaterThan(1_700_000_000_000)
})

describe('options', () => {
  const brokers = ['localhost:9092']
  it.each([
    [{ brokers: [] }, 'brokers must be'],
    [{ brokers, lingerMs: '5' }, 'Producer: lingerMs must be an integer of 0-86400000, got "5"'],
    [{ brokers, acks: 2 }, "Producer: acks must be 'all', -1, 1 or 0, got 2"],
    [{ brokers, acks: 1, idempotent: true }, "acks must be 'all' or -1 for an idempotent producer, got 1"],
    [{ brokers, compression: 'brotli' }, 'Producer: compression must be one of'],
    [
      { brokers, partitioner: 'random' },
      "Producer: partitioner must be one of 'keyHash', 'roundRobin', 'sticky', or a function",
    ],
    [{ brokers, lingerMs: 5, deliveryTimeoutMs: 5 }, 'lingerMs must be less than deliveryTimeoutMs (5), got 5'],
    [{ brokers, linger: 5 }, 'Producer: unknown option linger'],
  ])('%j are refused at construction', (options, message) => {
    expect(() => new Producer(options as never)).toThrow(message)
    expect(() => new Producer(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }) as Error)
  })
})

it.each([
  ['a topic name that cannot be', () => producer.send('no topic', { value: 'v' })],
  ['a message that is none', () => producer.send('orders', undefined as never)],
  ['no arguments', () => producer.send(undefined as never)],
  ['a number as value', () => producer.send('orders', { value: 7 as never })],
  ['a number as key', () => producer.send('orders', { key: 7 as never, value: 'v' })],
  ['a negative partition', () => producer.send('orders', { partition: -1, value: 'v' })],
  ['a partition that is not there', () => producer.send('orders', { partition: 1, value: 'v' })],
  ['a timestamp that is none', () => producer.send('orders', { timestamp: new Date(NaN), value: 'v' })],
  ['a timeout that is none', () => producer.send('orders', { value: 'v' }, { timeoutMs: '5' as never })],
  ['a null message in an array', () => producer.send('orders', [null as never])],
])('%s rejects with INVALID_ARGUMENT', async (_name, send) => {
  await start()
  await expect(send()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', maybeWritten: false })
  expect(await producer.send('orders', { value: 'v' })).toMatchObject({ offset: 0 })
})
