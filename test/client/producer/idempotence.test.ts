// Idempotence on the wire: every record once and in order, whatever happens to requests and answers.
import { afterEach, describe, expect, it } from 'vitest'
import { startBroker, type BrokerCluster } from '../../../src/broker.js'
import { Producer, type RecordMetadata } from '../../../src/index.js'
import { until } from '../../helpers/until.js'

let kafka: BrokerCluster
let producer: Producer

async function start(options: Partial<ConstructorParameters<typeof Producer>[0]> = {}) {
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
  await producer.close({ timeoutMs: 1000 })
  await kafka.close()
})

/** Sends in turns of the event loop, so that there are several batches. */
async function sendInTurns(turns: number, perTurn: number): Promise<RecordMetadata[]> {
  const sent: Promise<RecordMetadata>[] = []
  for (let turn = 0; turn < turns; turn++) {
    for (let i = 0; i < perTurn; i++) sent.push(producer.send('orders', { value: `${turn * perTurn + i}` }))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return Promise.all(sent)
}

async function values(): Promise<string[]> {
  return (await kafka.topic('orders').records(0)).map(({ value }) => String(value))
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)

describe('T01 parallel sends of an idempotent producer', () => {
  it('T01 fifty sends at once get fifty offsets', async () => {
    await start()
    const sent = await Promise.all(numbers(50).map((value) => producer.send('orders', { value })))
    expect(sent.map(({ offset }) => offset)).toEqual(numbers(50).map(Number))
    expect(await values()).toEqual(numbers(50))
  })

  it.each([
    ['NOT_LEADER_OR_FOLLOWER for the second request', { after: 1, times: 1, error: 'NOT_LEADER_OR_FOLLOWER' }],
    ['an answer that is lost with its connection', { after: 2, times: 2, disconnect: 'after' }],
    ['a connection that breaks before the request is handled', { after: 2, times: 2, disconnect: 'before' }],
    [
      'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
      { after: 1, times: 3, error: 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', afterProcessing: true },
    ],
  ] as const)('T01 every record is written once and in order in spite of %s', async (_name, fault) => {
    await start()
    await sendInTurns(1, 10)
    const struck = kafka.faults.add({ api: 'Produce', ...fault })
    const sent = await sendInTurns(20, 10)
    expect(struck.hits).toBe(fault.times)
    expect(await values()).toEqual([...numbers(10), ...numbers(200)])
    expect(sent.map(({ offset }) => offset)).toEqual(numbers(200).map((i) => Number(i) + 10))
    const [first] = await kafka.topic('orders').records(0)
    expect(
      (await kafka.topic('orders').records(0)).every(({ producerEpoch }) => producerEpoch === first?.producerEpoch),
    ).toBe(true)
  })
})

it('T02 a batch that is sent again has the same records and sequence though more are waiting', async () => {
  await start()
  await producer.send('orders', { value: '0' })
  const fault = kafka.faults.add({ api: 'Produce', times: 1, disconnect: 'after' })
  const first = [producer.send('orders', { value: '1' }), producer.send('orders', { value: '2' })]
  await until('the answer is lost', () => fault.hits === 1)
  const later = Promise.all([producer.send('orders', { value: '3' }), producer.send('orders', { value: '4' })])
  expect((await Promise.all(first)).map(({ offset }) => offset)).toEqual([1, 2]) // the original ones
  await later
  expect(await values()).toEqual(['0', '1', '2', '3', '4'])
  const batches = await kafka.topic('orders').batches(0)
  expect(batches.map(({ recordCount, baseSequence }) => [baseSequence, recordCount])).toEqual([
    [0, 1],
    [1, 2],
    [3, 2],
  ])
})

it('T02 DUPLICATE_SEQUENCE_NUMBER of an older broker counts as success', async () => {
  await start()
  kafka.faults.add({ api: 'Produce', times: 1, error: 'DUPLICATE_SEQUENCE_NUMBER', afterProcessing: true })
  expect(await producer.send('orders', { value: '0' })).toMatchObject({ offset: -1 })
  expect(await values()).toEqual(['0'])
})

describe('T03 a broker that does not know the sequence', () => {
  it.each(['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID'] as const)(
    'T03 after %s the producer goes on under a new epoch, nothing lost or twice',
    async (error) => {
      await start()
      await sendInTurns(2, 5)
      kafka.faults.add({ api: 'Produce', times: 1, error })
      await Promise.all(Array.from({ length: 30 }, (_, i) => producer.send('orders', { value: `${10 + i}` })))
      expect(await values()).toEqual(numbers(40))
      const records = await kafka.topic('orders').records(0)
      expect(new Set(records.map(({ producerEpoch }) => producerEpoch)).size).toBe(2)
      expect(records[10]).toMatchObject({ sequence: 0 })
    },
  )

  it('T03 a batch that is refused for good does not stop those behind it', async () => {
    await start()
    await producer.send('orders', { value: 'first' })
    const fault = kafka.faults.add({ api: 'Produce', times: 1, error: 'INVALID_REQUIRED_ACKS' })
    const refused = producer.send('orders', { value: 'refused' })
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUIRED_ACKS', maybeWritten: false })
    expect(fault.hits).toBe(1)
    await producer.send('orders', { value: 'next' })
    expect(await values()).toEqual(['first', 'next'])
  })
})

it('T03b KAFKA-14359 the first batch of a partition goes alone, so that a later one cannot take its place', async () => {
  await start()
  kafka.faults.add({ api: 'Produce', times: 1, error: 'NOT_LEADER_OR_FOLLOWER' })
  await sendInTurns(10, 3)
  expect(await values()).toEqual(numbers(30))
  expect((await kafka.topic('orders').records(0)).every(({ producerEpoch }) => producerEpoch === 0)).toBe(true)
})

it('T06 REQUEST_TIMED_OUT for a batch that was written is not a second copy', async () => {
  await start()
  kafka.faults.add({ api: 'Produce', times: 2, error: 'REQUEST_TIMED_OUT', afterProcessing: true })
  expect(await producer.send('orders', { value: '0' })).toMatchObject({ offset: 0 })
  expect(await values()).toEqual(['0'])
})

it('without idempotence a retry keeps its order too', async () => {
  await start({ idempotent: false })
  kafka.faults.add({ api: 'Produce', after: 1, times: 1, error: 'NOT_LEADER_OR_FOLLOWER' })
  await producer.send('orders', { value: '0' })
  await Promise.all([producer.send('orders', { value: '1' }), producer.send('orders', { value: '2' })])
  expect(await values()).toEqual(['0', '1', '2'])
  expect((await kafka.topic('orders').records(0)).every(({ producerId }) => producerId === -1)).toBe(true)
})
