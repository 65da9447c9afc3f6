// What a member may still do with partitions that went to others, how it leaves, and that an ordinary rebalance is nobody's error.
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { startBroker, type BrokerCluster } from '../../../src/broker.js'
import { Producer } from '../../../src/client/producer/index.js'
import type { ConsumerRecord } from '../../../src/index.js'
import { until } from '../../helpers/until.js'
import { memberOf } from './group-helpers.js'

async function start(partitions: number, records: number): Promise<BrokerCluster> {
  const kafka = await startBroker({ topics: { orders: partitions } })
  await using producer = new Producer({ brokers: kafka.brokers })
  const messages = Array.from({ length: records }, (_, i) => ({ value: String(i), partition: i % partitions }))
  await producer.send('orders', messages)
  return kafka
}

function complaints() {
  const said: string[] = []
  const note = (text: string) => void said.push(text)
  return { said, logger: { debug: () => {}, info: () => {}, warn: note, error: note } }
}

it('T63 a record of a partition that went to another member cannot be committed, and its new owner is not taken back', async () => {
  await using kafka = await start(2, 4)
  const options = { assignors: ['cooperative-sticky'], commit: 'manual' } as const
  await using first = memberOf(kafka, options)
  const seen = new Map<number, ConsumerRecord>()
  for await (const record of first) {
    if (!seen.has(record.partition)) seen.set(record.partition, record)
    record.done()
    if (seen.size === 2) break
  }
  await first.commit()
  const before = kafka.groups()[0]?.offsets
  await using second = memberOf(kafka, options)
  await second.ready()
  await until('each has one', () => first.partitions().length === 1 && second.partitions().length === 1)
  const [gone] = second.partitions()
  await expect(first.commit(seen.get(gone!.partition)!)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
  expect(kafka.groups()[0]?.offsets).toEqual(before)
  const [kept] = first.partitions()
  await first.commit(seen.get(kept!.partition)!)
})

describe('T71 closing', () => {
  it.each(['NOT_COORDINATOR', 'UNKNOWN_MEMBER_ID'] as const)('%s to the goodbye is no failure', async (error) => {
    await using kafka = await start(1, 1)
    const { said, logger } = complaints()
    const member = memberOf(kafka, { logger })
    await member.ready()
    const fault = kafka.faults.add({ api: 'LeaveGroup', error, times: 1 })
    kafka.faults.add({ api: 'Heartbeat', delayMs: 300 }) // one is on its way
    await member.close()
    expect(fault.hits).toBe(1)
    expect(member.state).toBe('closed')
    expect(said).toEqual([])
    if (error === 'NOT_COORDINATOR') expect(kafka.groups()[0]?.members).toEqual([])
  })

  it('T116 ends in its time when the coordinator is gone, and says so', async () => {
    const kafka = await start(1, 1)
    const member = memberOf(kafka)
    await member.ready()
    await kafka.close()
    await expect(member.close({ timeoutMs: 100 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(member.ready()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

it.each(['range', 'cooperative-sticky'] as const)(
  'T119 members that come and go (%s) are no error in logs or events',
  async (assignor) => {
    await using kafka = await start(4, 40)
    const { said, logger } = complaints()
    const open = () => {
      const member = memberOf(kafka, { logger, assignors: [assignor] })
      for (const name of ['retry', 'commitFailed', 'lost', 'disconnected'] as const)
        member.on(name, (event) => said.push(`${name} ${JSON.stringify(event)}`))
      return member
    }
    const first = open()
    await first.ready()
    const second = open()
    await second.ready()
    await until('they share', () => first.partitions().length === 2 && second.partitions().length === 2)
    await first.close()
    await until('the other has all', () => second.partitions().length === 4)
    await second.close()
    expect(said).toEqual([])
  },
)

it('T113 reading and waiting with one signal, over and over, leaves no listener on it', async () => {
  await using kafka = await start(1, 3)
  await using member = memberOf(kafka)
  const { signal } = new AbortController()
  for (let i = 0; i < 50; i++) {
    await member.ready({ signal })
    for await (const _ of member.records({ signal })) break
    for await (const _ of member.batches({ signal })) break
    await member.commit({ signal })
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('T81 a member closed in the middle of a cooperative rebalance commits what is done, and nobody reads it again', async () => {
  await using kafka = await start(2, 4)
  const assignors = ['cooperative-sticky'] as const
  const first = memberOf(kafka, { assignors, clientId: 'first' })
  let count = 0
  for await (const record of first) {
    record.done()
    if (++count === 4) break
  }
  // The group goes into its next generation, and the first member does not hear of it yet.
  kafka.faults.add({ api: 'JoinGroup', client: 'first', times: 1, delayMs: 10_000 })
  await using second = memberOf(kafka, { assignors })
  const ready = second.ready()
  await until('the next generation has begun', () => kafka.groups()[0]?.state === 'CompletingRebalance')
  const commits = () =>
    kafka.requests.filter(({ api, clientId }) => api === 'OffsetCommit' && clientId === 'first').length
  const closing = first.close()
  await until('its old generation could not commit', () => commits() > 0)
  kafka.clock.advance(10_000)
  await closing
  expect(kafka.groups()[0]?.offsets.map(({ offset }) => offset)).toEqual([2, 2])
  await ready
})
