// Close, flush, and sends that are given up.
import { afterEach, describe, expect, it } from 'vitest'
import { startBroker, type BrokerCluster } from '../../../src/broker.js'
import { Producer, SendError, type ProducerOptions } from '../../../src/index.js'
import { until } from '../../helpers/until.js'

let kafka: BrokerCluster
let producer: Producer

async function start(options: Partial<ProducerOptions> = {}) {
  kafka = await startBroker({ topics: { orders: 1 } })
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

const values = async () => (await kafka.topic('orders').records(0)).map(({ value }) => String(value))

describe('T20 close', () => {
  it('T20 sends what is queued, then refuses', async () => {
    await start({ lingerMs: 60_000 })
    const sent = producer.send('orders', { value: '0' })
    const closing = producer.close()
    await expect(producer.send('orders', { value: '1' })).rejects.toMatchObject({ code: 'CLOSED', maybeWritten: false })
    await closing
    expect(await sent).toMatchObject({ offset: 0 })
    await expect(producer.connect()).rejects.toMatchObject({ code: 'CLOSED' })
    expect(producer.close()).toBe(closing)
  })

  it('T20 rejects what is left at its deadline; no promise stays pending', async () => {
    await start()
    await producer.send('orders', { value: '0' })
    await kafka.broker(1).stop()
    const queued = producer.send('orders', { value: '1' })
    const unknown = producer.send('other', { value: '1' })
    const outcomes = Promise.allSettled([queued, unknown])
    await producer.close({ timeoutMs: 50 })
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'CLOSED' } })
    expect(producer.bufferedBytes).toBe(0)
  })

  it('T20 a time that is none is refused, and costs no record', async () => {
    await start({ lingerMs: 60_000 })
    const sent = producer.send('orders', { value: '0' })
    await expect(producer.close({ timeoutMs: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await producer.close()
    expect(await sent).toMatchObject({ offset: 0 })
  })

  it('T20 a producer that never connected closes at once', async () => {
    await start()
    await producer.close()
    expect(kafka.requests).toEqual([])
  })
})

describe('flush', () => {
  it('does not wait for lingering, and resolves when every outcome is known, good or bad', async () => {
    await start({ lingerMs: 60_000 })
    const good = producer.send('orders', { value: '0' })
    kafka.faults.add({ api: 'Metadata', topic: 'denied', error: 'TOPIC_AUTHORIZATION_FAILED' })
    const bad = producer.send('denied', { value: '0' })
    const outcomes = Promise.allSettled([good, bad])
    await producer.flush()
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(await values()).toEqual(['0'])
  })

  it('ends with its own deadline, and the records go on', async () => {
    await start()
    await producer.send('orders', { value: '0' })
    const fault = kafka.faults.add({ api: 'Produce', error: 'NOT_LEADER_OR_FOLLOWER' })
    const sent = producer.send('orders', { value: '1' })
    await expect(producer.flush({ timeoutMs: 30 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    fault.remove()
    expect(await sent).toMatchObject({ offset: 1 })
  })
})

describe('T21 aborting a send', () => {
  it('T21 before it is drained: rejected, and never on the wire', async () => {
    await start({ lingerMs: 60_000 })
    const controller = new AbortController()
    const first = producer.send('orders', { value: '0' })
    const aborted = producer.send('orders', { value: 'aborted' }, { signal: controller.signal })
    const last = producer.send('orders', { value: '1' })
    await producer.connect()
    controller.abort(new Error('changed my mind'))
    await expect(aborted).rejects.toMatchObject({
      code: 'ABORTED',
      maybeWritten: false,
      cause: { message: 'changed my mind' },
    })
    await producer.flush()
    expect([(await first).offset, (await last).offset]).toEqual([0, 1])
    expect(await values()).toEqual(['0', '1'])
  })

  it('T21 alone in its batch, or before its topic is known: nothing is sent at all', async () => {
    await start({ lingerMs: 60_000 })
    const controller = new AbortController()
    const options = { signal: controller.signal }
    const unknown = producer.send('orders', { value: '0' }, options)
    const outcome = Promise.allSettled([unknown])
    controller.abort()
    expect(await outcome).toMatchObject([{ reason: { code: 'ABORTED', maybeWritten: false } }])
    await producer.flush()
    expect(producer.bufferedBytes).toBe(0)
    expect(await values()).toEqual([])
    await expect(producer.send('orders', { value: '1' }, options)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('T21 in flight: rejected with maybeWritten, and the sequence goes on', async () => {
    await start()
    await producer.send('orders', { value: '0' })
    const fault = kafka.faults.add({ api: 'Produce', times: 1, delayMs: 60_000 })
    const controller = new AbortController()
    const aborted = producer.send('orders', { value: '1' }, { signal: controller.signal })
    const outcome = Promise.allSettled([aborted])
    await until('it is on its way', () => fault.hits === 1)
    controller.abort()
    expect(await outcome).toMatchObject([{ reason: { code: 'ABORTED', maybeWritten: true } }])
    kafka.clock.advance(60_000)
    expect(await producer.send('orders', { value: '2' })).toMatchObject({ offset: 2 })
    expect(await values()).toEqual(['0', '1', '2'])
  })

  it('T21 of an array: what is not drained is cut, the error has what became of each', async () => {
    await start({ lingerMs: 60_000, batchBytes: 200 })
    await producer.connect()
    const controller = new AbortController()
    const warmUp = producer.send('orders', { value: 'w' })
    await producer.flush()
    await warmUp
    const messages = Array.from({ length: 4 }, (_, i) => ({ value: `${i}`.padEnd(60, '.') }))
    const sent = producer.send('orders', messages, { signal: controller.signal })
    const outcome = sent.catch((error: unknown) => error as SendError)
    await until('the full batch is written', async () => (await values()).length > 1)
    const written = (await values()).length - 1
    controller.abort()
    const error = (await outcome) as SendError
    expect(error).toBeInstanceOf(SendError)
    expect(error.results.length).toBe(4)
    await producer.flush()
    expect(await values()).toHaveLength(written + 1)
    expect(error.results.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(4 - written)
  })
})
