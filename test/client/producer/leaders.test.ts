// Partitions whose leader changes, dies or is missing.
import { afterEach, describe, expect, it } from 'vitest'
import { startBroker, type BrokerCluster } from '../../../src/broker.js'
import { Producer, type ProducerOptions } from '../../../src/index.js'
import { until } from '../../helpers/until.js'

let kafka: BrokerCluster
let producer: Producer

async function start(brokers: number, partitions: number, options: Partial<ProducerOptions> = {}) {
  kafka = await startBroker({ brokers, topics: { orders: partitions } })
  producer = new Producer({
    brokers: kafka.brokers,
    retryBackoffMs: 5,
    retryBackoffMaxMs: 20,
    logger: 'silent',
    ...options,
  })
}

afterEach(async () => {
  await producer.close({ timeoutMs: 1000 })
  await kafka.close()
})

const leaderOf = (partition: number) => kafka.topic('orders').partitions()[partition]!.leader

describe('T07 a leader that is gone', () => {
  it('T07 what was sent to a killed leader goes to the new one, not to the dead one', async () => {
    await start(3, 1)
    await producer.send('orders', { value: '0' })
    const dead = leaderOf(0)
    const other = dead === 3 ? 1 : dead + 1
    const killed = kafka.broker(dead).kill()
    const sent = producer.send('orders', { value: '1' })
    await killed
    await kafka.moveLeader('orders', 0, other)
    expect(await sent).toMatchObject({ offset: 1 })
    const produced = kafka.requests.filter(({ api }) => api === 'Produce')
    expect(produced.at(-1)?.broker).toBe(other)
  })

  it('T07 a moved leader is found by the hint in the answer, without a round of metadata (KIP-951)', async () => {
    await start(2, 1, { retryBackoffMs: 10_000, retryBackoffMaxMs: 10_000 })
    await producer.send('orders', { value: '0' })
    await kafka.moveLeader('orders', 0, leaderOf(0) === 1 ? 2 : 1)
    expect(await producer.send('orders', { value: '1' })).toMatchObject({ offset: 1 })
  })

  it('T07 batches in flight at the old leader keep their order at the new one', async () => {
    await start(2, 1)
    const sent: Promise<unknown>[] = []
    for (let i = 0; i < 60; i++) {
      sent.push(producer.send('orders', { value: `${i}` }))
      await new Promise((resolve) => setImmediate(resolve))
      if (i % 20 === 10) await kafka.moveLeader('orders', 0, leaderOf(0) === 1 ? 2 : 1)
    }
    await Promise.all(sent)
    const values = (await kafka.topic('orders').records(0)).map(({ value }) => Number(value))
    expect(values).toEqual(Array.from({ length: 60 }, (_, i) => i))
  })

  it('T07 a stopped leader that comes back is found again', async () => {
    await start(2, 1)
    await producer.send('orders', { value: '0' })
    const leader = kafka.broker(leaderOf(0))
    await leader.stop()
    const sent = producer.send('orders', { value: '1' })
    await until('the client has seen it', () => kafka.requests.filter(({ api }) => api === 'Metadata').length > 2)
    await leader.start()
    expect(await sent).toMatchObject({ offset: 1 })
  })
})

describe('T17 partitions without a leader', () => {
  it('T17 records without a key go to the others, a keyed one waits for its own partition', async () => {
    await start(3, 3, { deliveryTimeoutMs: 20_000 })
    await producer.send('orders', { value: 'warm up', partition: 1 })
    const dead = leaderOf(0)
    const asked = () => kafka.requests.filter(({ api }) => api === 'Metadata').length
    const before = asked()
    await kafka.broker(dead).stop()
    const keyed = producer.send('orders', { value: 'waits', partition: 0 })
    await until('the client knows that nobody leads', () => asked() >= before + 3)
    const sent = await Promise.all(
      Array.from({ length: 200 }, () => producer.send('orders', { value: 'x'.repeat(1000) })),
    )
    const partitions = new Set(sent.map(({ partition }) => partition))
    expect([...partitions].sort()).toEqual([1, 2])
    await kafka.broker(dead).start()
    expect(await keyed).toMatchObject({ partition: 0, offset: 0 })
  })
})
