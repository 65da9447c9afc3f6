// How long send() may take, and what it says when it could not.
import { afterEach, describe, expect, it } from 'vitest'
import { startBroker, type BrokerCluster, type StartBrokerOptions } from '../../../src/broker.js'
import type { SendError } from '../../../src/index.js'
import { Producer, type ProducerOptions } from '../../../src/index.js'
import { until } from '../../helpers/until.js'

let kafka: BrokerCluster
let producer: Producer

async function start(options: Partial<ProducerOptions> = {}, broker: StartBrokerOptions = { topics: { orders: 1 } }) {
  kafka = await startBroker(broker)
  producer = new Producer({
    brokers: kafka.brokers,
    retryBackoffMs: 5,
    retryBackoffMaxMs: 20,
    logger: 'silent',
    ...options,
  })
}

afterEach(async () => {
  await producer.close({ timeoutMs: 100 })
  await kafka.close()
})

const failure = (sent: Promise<unknown>) =>
  sent.then(
    () => {
      throw new Error('it was delivered')
    },
    (error: unknown) => error as SendError,
  )

describe('T08 time to failure', () => {
  it('T08 with all brokers down send() rejects at its deadline, with the last cause', async () => {
    await start({ deliveryTimeoutMs: 400 })
    await producer.send('orders', { value: '0' })
    await kafka.broker(1).kill()
    const begun = performance.now()
    const error = await failure(producer.send('orders', { value: '1' }))
    const took = performance.now() - begun
    expect(took).toBeGreaterThanOrEqual(399)
    expect(error).toMatchObject({ code: 'TIMEOUT', retriable: true })
    expect(error.message).toContain('orders-0')
    expect(error.cause).toBeInstanceOf(Error)
  })

  it('T08 a producer that never reached a broker rejects at its deadline too', async () => {
    await start({ deliveryTimeoutMs: 300 })
    await kafka.broker(1).stop()
    const error = await failure(producer.send('orders', { value: '0' }))
    expect(error).toMatchObject({ code: 'TIMEOUT', maybeWritten: false })
    expect(error.message).toContain('300 ms')
    expect(error.cause).toBeInstanceOf(Error)
  })

  it('T08 a record whose answer is withheld fails with maybeWritten, and the ones behind it are written', async () => {
    await start({ deliveryTimeoutMs: 300, requestTimeoutMs: 500 })
    await producer.send('orders', { value: '0' })
    kafka.faults.add({ api: 'Produce', times: 1, drop: true })
    expect(await failure(producer.send('orders', { value: '1' }))).toMatchObject({
      code: 'TIMEOUT',
      maybeWritten: true,
    })
    const later = until('a later record is written', () =>
      producer.send('orders', { value: '2' }).then(
        () => true,
        () => false,
      ),
    )
    await later
    const values = (await kafka.topic('orders').records(0)).map(({ value }) => String(value))
    expect(values.slice(0, 2)).toEqual(['0', '1'])
    expect(values.at(-1)).toBe('2')
  })

  it('timeoutMs of a send ends it before deliveryTimeoutMs does', async () => {
    await start()
    await kafka.broker(1).stop()
    expect(await failure(producer.send('orders', { value: '0' }, { timeoutMs: 50 }))).toMatchObject({
      code: 'TIMEOUT',
      maybeWritten: false,
    })
  })
})

describe('T09 a topic that is not there yet', () => {
  it('T09 UNKNOWN_TOPIC_OR_PARTITION and LEADER_NOT_AVAILABLE are only a matter of time', async () => {
    await start({}, {})
    const fault = kafka.faults.add({ api: 'Metadata', topic: 'fresh', times: 2, error: 'UNKNOWN_TOPIC_OR_PARTITION' })
    const second = kafka.faults.add({ api: 'Metadata', topic: 'fresh', times: 2, error: 'LEADER_NOT_AVAILABLE' })
    expect(await producer.send('fresh', { value: '0' })).toMatchObject({ offset: 0 })
    expect(fault.hits + second.hits).toBeGreaterThanOrEqual(2)
  })

  it('T09 without auto-creation only the records of that topic fail', async () => {
    await start({ deliveryTimeoutMs: 300 }, { topics: { orders: 1 }, autoCreateTopics: false })
    const missing = failure(producer.send('missing', { value: '0' }))
    expect(await producer.send('orders', { value: '0' })).toMatchObject({ offset: 0 })
    const error = await missing
    expect(error).toMatchObject({ code: 'TIMEOUT', maybeWritten: false })
    expect(error.cause).toMatchObject({ code: 'UNKNOWN_TOPIC_OR_PARTITION' })
  })
})

it('T10 a topic that may not be written does not poison the sends to others', async () => {
  await start({}, { topics: { a: 1, b: 1 } })
  kafka.faults.add({ api: 'Metadata', topic: 'a', error: 'TOPIC_AUTHORIZATION_FAILED' })
  expect(await failure(producer.send('a', { value: '0' }))).toMatchObject({
    name: 'AuthorizationError',
    code: 'TOPIC_AUTHORIZATION_FAILED',
    maybeWritten: false,
  })
  expect(await producer.send('b', { value: '0' })).toMatchObject({ offset: 0 })
  const before = kafka.requests.length
  await producer.send('b', { value: '1' })
  const asked = kafka.requests.slice(before).filter(({ api }) => api === 'Metadata')
  expect(JSON.stringify(asked)).not.toContain('"a"')
})

it('a producer that gets no producer id tells why at once, does not hammer the broker, and recovers', async () => {
  await start()
  const fault = kafka.faults.add({ api: 'InitProducerId', error: 'CLUSTER_AUTHORIZATION_FAILED' })
  const error = await failure(producer.send('orders', { value: '0' }))
  expect(error).toMatchObject({ name: 'AuthorizationError', code: 'CLUSTER_AUTHORIZATION_FAILED', maybeWritten: false })
  await new Promise((resolve) => setImmediate(resolve))
  expect(fault.hits).toBe(1)
  fault.remove()
  expect(await producer.send('orders', { value: '1' })).toMatchObject({ offset: 0 })
})

it('T117 a connect() that is given up takes no send with it, and ends in its own time', async () => {
  await start()
  const fault = kafka.faults.add({ api: 'InitProducerId', error: 'COORDINATOR_LOAD_IN_PROGRESS' })
  const giveUp = new AbortController()
  const first = failure(producer.connect({ signal: giveUp.signal }))
  await until('it asks for its producer id', () => fault.hits > 0)
  const sent = producer.send('orders', { value: '0' })
  const asked = kafka.requests.length
  await until('the send has begun', () => kafka.requests.slice(asked).some(({ api }) => api === 'Metadata'))
  giveUp.abort()
  expect(await first).toMatchObject({ code: 'ABORTED' })
  expect(await failure(producer.connect({ timeoutMs: 50 }))).toMatchObject({ code: 'TIMEOUT' })
  fault.remove()
  expect(await sent).toMatchObject({ offset: 0 })
})

describe('bufferBytes', () => {
  it('sends that do not fit wait in order and are written in order', async () => {
    await start({ bufferBytes: 2000, batchBytes: 500 })
    const sent = Array.from({ length: 100 }, (_, i) => producer.send('orders', { value: `${i}`.padEnd(300, '.') }))
    expect(producer.bufferedBytes).toBeLessThanOrEqual(2000)
    const offsets = (await Promise.all(sent)).map(({ offset }) => offset)
    expect(offsets).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect(producer.bufferedBytes).toBe(0)
  })

  it('text that is not ASCII counts by its bytes', async () => {
    await start({ bufferBytes: 2000 })
    await producer.send('orders', { value: 'warm up' })
    const sent = Array.from({ length: 10 }, () => producer.send('orders', { value: '€'.repeat(300) }))
    expect(producer.bufferedBytes).toBeGreaterThan(900)
    expect(producer.bufferedBytes).toBeLessThanOrEqual(2000)
    await Promise.all(sent)
    expect(producer.bufferedBytes).toBe(0)
  })

  it('a record that can never fit is refused at once', async () => {
    await start({ bufferBytes: 2000 })
    expect(await failure(producer.send('orders', { value: Buffer.alloc(2000) }))).toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      maybeWritten: false,
    })
  })

  it('who waits for room in vain is told so at the deadline', async () => {
    await start({ bufferBytes: 1024, deliveryTimeoutMs: 200 })
    await producer.send('orders', { value: 'warm up' })
    await kafka.broker(1).stop()
    const first = failure(producer.send('orders', { value: Buffer.alloc(800) }))
    const second = failure(producer.send('orders', { value: Buffer.alloc(800) }))
    expect(await first).toMatchObject({ code: 'TIMEOUT' })
    expect(await second).toMatchObject({ code: 'BUFFER_FULL', maybeWritten: false, retriable: true })
    await until('the bytes are free', () => producer.bufferedBytes === 0)
  })
})

it('T12 a record larger than the topic allows is rejected with the reason, and later ones arrive', async () => {
  await start({}, { topics: { orders: 1 }, config: { 'message.max.bytes': 1000 } })
  const error = await failure(producer.send('orders', { value: Buffer.alloc(2000) }))
  expect(error).toMatchObject({ code: 'MESSAGE_TOO_LARGE', maybeWritten: false })
  expect(error.message).toContain('max.message.bytes')
  expect(await producer.send('orders', { value: 'small' })).toMatchObject({ offset: 0 })
})

it('T14 a timestamp that the topic does not allow fails its record with INVALID_TIMESTAMP', async () => {
  await start({}, { topics: { orders: 1 }, config: { 'log.message.timestamp.after.max.ms': 3_600_000 } })
  const micros = Date.now() * 1000
  expect(await failure(producer.send('orders', { value: '0', timestamp: micros }))).toMatchObject({
    code: 'INVALID_TIMESTAMP',
    maybeWritten: false,
  })
  const when = new Date(Date.now() - 1000)
  expect(await producer.send('orders', { value: '1', timestamp: when })).toMatchObject({ timestamp: when.getTime() })
  expect(await failure(producer.send('orders', { value: '2', timestamp: -1 }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
})
