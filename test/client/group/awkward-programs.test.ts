// Members whose program does what it need not expect to be kind: listeners that throw, hang or close, commits of old records, reading on
// after an abort.
import { describe, expect, it } from 'vitest'
import { startBroker, type BrokerCluster } from '../../../src/broker.js'
import { Admin } from '../../../src/client/admin/index.js'
import { Producer } from '../../../src/client/producer/index.js'
import type { WaitOptions } from '../../../src/util/deadline.js'
import { until } from '../../helpers/until.js'
import { memberOf } from './group-helpers.js'

function startKafka(partitions = 1): Promise<BrokerCluster> {
  return startBroker({ topics: { orders: partitions }, config: { 'group.min.session.timeout.ms': 100 } })
}

/** Values are their offsets. */
async function produce(kafka: BrokerCluster, count: number, partition = 0): Promise<void> {
  await using producer = new Producer({ brokers: kafka.brokers })
  await producer.send(
    'orders',
    Array.from({ length: count }, (_, i) => ({ value: String(i), partition })),
  )
}

const committed = (kafka: BrokerCluster) => kafka.groups()[0]?.offsets.map(({ offset }) => offset) ?? []

describe('commits', () => {
  it('a record committed after break is not given out again, and the commit stays', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 3)
    const member = memberOf(kafka)
    const records = member.records()
    const { value: first } = await records.next()
    await records.return!()
    expect(member.position({ topic: 'orders', partition: 0 })).toBe(0)
    await member.commit(first!)
    expect(member.position({ topic: 'orders', partition: 0 })).toBe(1)
    expect(committed(kafka)).toEqual([1])
    for await (const record of member) {
      expect(record.offset).toBe(1)
      break
    }
    await member.close()
    expect(committed(kafka)).toEqual([1])
  })

  it('record.done() after break counts too', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 3)
    const member = memberOf(kafka)
    const batches = member.batches({ maxRecords: 2 })
    const { value: batch } = await batches.next()
    await batches.return!()
    batch!.records[0]!.done()
    await member.commit()
    expect(committed(kafka)).toEqual([1])
    for await (const record of member) {
      expect(record.offset).toBe(1)
      break
    }
    await member.close()
  })

  it('the metadata of commit() is stored with every offset, also where only it is news', async () => {
    await using kafka = await startKafka(2)
    await using member = memberOf(kafka, { commit: 'manual' })
    await using admin = new Admin({ brokers: kafka.brokers })
    await member.ready()
    for (const metadata of ['one', 'two']) {
      await member.commit({ metadata })
      const stored = { offset: 0, metadata }
      expect(await admin.listGroupOffsets('billing')).toMatchObject([stored, stored])
    }
  })

  it('the commit of an older record does not take the group back', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 5)
    await using member = memberOf(kafka, { commit: 'manual' })
    const records = member.records()
    const given = []
    for (let i = 0; i < 4; i++) given.push((await records.next()).value!)
    await member.commit(given[1]!)
    expect(committed(kafka)).toEqual([2])
    await Promise.all([member.commit(given[2]!), member.commit(given[0]!)])
    expect(committed(kafka)).toEqual([3])
    member.seek({ topic: 'orders', partition: 0 }, 0)
    await member.commit((await records.next()).value!)
    expect(committed(kafka)).toEqual([1])
    await expect(member.commit(given[3]!)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
    await records.return!()
  })

  it('T56 a commit that a rebalance refused does not overtake a later one', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 8)
    await using member = memberOf(kafka, { commit: 'manual', assignors: ['cooperative-sticky'] })
    const records = member.records()
    const first = (await records.next()).value!
    await records.next()
    const second = (await records.next()).value!
    kafka.faults.add({ api: 'OffsetCommit', error: 'REBALANCE_IN_PROGRESS', times: 1 })
    await Promise.all([member.commit(first), member.commit(second)])
    expect(committed(kafka)).toEqual([3])

    kafka.faults.add({ api: 'OffsetCommit', error: 'REBALANCE_IN_PROGRESS', times: 1 })
    await records.next()
    await records.next()
    const early = member.commit()
    await new Promise(setImmediate) // it is on its way
    await records.next()
    await Promise.all([early, member.commit()])
    expect(committed(kafka)).toEqual([5])
    await records.return!()
  })
})

describe('reading', () => {
  it('T40 a batch that is still being filled is not committed, and comes again', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 3)
    await using member = memberOf(kafka)
    const batches = member.batches({ maxWaitMs: 60_000 })
    const next = batches.next()
    await member.ready()
    await until('they are fetched', () => kafka.requests.some(({ api }) => api === 'Fetch'))
    for (let i = 0; i < 20; i++) {
      await new Promise(setImmediate)
      await member.commit()
      expect(committed(kafka)).toEqual([0])
    }
    await produce(kafka, 997)
    expect((await next).value?.length).toBe(1000)
    await batches.return!()
    expect(member.position({ topic: 'orders', partition: 0 })).toBe(0)
  })

  it('T81 a record that was handled when the signal ended the reading is done', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 3)
    const member = memberOf(kafka)
    const stop = new AbortController()
    const read = async () => {
      for await (const _ of member.records({ signal: stop.signal })) stop.abort()
    }
    await expect(read()).rejects.toMatchObject({ code: 'ABORTED' })
    await member.close()
    expect(committed(kafka)).toEqual([1])
  })

  it('T65 throws to everybody when the committed offsets may not be read', async () => {
    await using kafka = await startKafka()
    kafka.faults.add({ api: 'OffsetFetch', error: 'GROUP_AUTHORIZATION_FAILED' })
    await using member = memberOf(kafka)
    await expect(member.ready({ timeoutMs: 5000 })).rejects.toMatchObject({ code: 'GROUP_AUTHORIZATION_FAILED' })
    await expect(member.records().next()).rejects.toMatchObject({ code: 'GROUP_AUTHORIZATION_FAILED' })
  })
})

it('a wait with a time or a signal that is none is refused, and close() may be called again', async () => {
  await using kafka = await startKafka()
  const member = memberOf(kafka)
  for (const wrong of [{ timeoutMs: '5' }, { timeoutMs: -1 }, { timeoutMs: NaN }, { signal: {} }]) {
    const options = wrong as unknown as WaitOptions
    for (const call of [() => member.ready(options), () => member.commit(options), () => member.close(options)])
      await expect(call()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  }
  await member.ready()
  await member.close()
  expect(kafka.groups()[0]?.members).toEqual([])
})

describe('listeners', () => {
  it('T52 rewind() may be awaited in the assigned event', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 3)
    await using member = memberOf(kafka, { from: 'end' })
    member.on('assigned', () => member.rewind(1, { timeoutMs: 5000 }))
    for await (const record of member) {
      expect(record.offset).toBe(1)
      break
    }
  })

  it('a revoked listener commits what is done, by hand', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 3)
    const member = memberOf(kafka, { commit: 'manual' })
    member.on('revoked', () => member.commit().catch(() => {}))
    const records = member.records()
    await records.next()
    await records.next()
    await member.close()
    expect(committed(kafka)).toEqual([])
    await records.return!()
  })

  it('T116 a listener that never comes back keeps close() from nothing, and leaves no timer behind', async () => {
    await using kafka = await startKafka()
    const member = memberOf(kafka)
    let isTold = false
    member.on('assigned', () => {
      isTold = true
      return new Promise(() => {})
    })
    const ready = member.ready().catch((error: unknown) => error)
    await until('the listener has it', () => isTold)
    await member.close({ timeoutMs: 200 })
    expect(kafka.groups()[0]?.members).toEqual([])
    expect(await ready).toMatchObject({ code: 'CLOSED' })
  })

  it('close() awaited by the body, by listeners, and by others at once', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 3)
    const member = memberOf(kafka)
    for await (const record of member) {
      expect(record.offset).toBe(0)
      await Promise.all([member.close(), member.close()])
    }
    expect(kafka.groups()[0]?.members).toEqual([])
    expect(committed(kafka)).toEqual([0])

    const other = memberOf(kafka)
    let closing: Promise<void> | undefined
    other.on('assigned', () => (closing = other.close({ timeoutMs: 1000 })))
    await other.ready().catch(() => {})
    await closing
    expect(kafka.groups()[0]?.members).toEqual([])
  })
})
