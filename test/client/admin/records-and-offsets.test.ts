import { describe, expect, test } from 'vitest'
import { startBroker } from '../../../src/broker/start-broker.js'
import { adminOf, countOf, fill } from './admin-helpers.js'

describe('offsets', () => {
  test('the beginning, the end, and the first record at or after a time', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 2 } })
    await using admin = adminOf(kafka)
    await fill(kafka, 10)
    await admin.deleteRecords({ topic: 'orders', partition: 0, before: 3 })
    const at = (partition: number, at: 'beginning' | 'end' | Date) => ({ topic: 'orders', partition, at })
    const results = await admin.listOffsets([
      at(0, 'beginning'),
      at(0, 'end'),
      at(0, new Date(4500)),
      at(0, new Date(60_000)),
      at(1, 'beginning'),
      at(1, 'end'),
      at(7, 'end'),
    ])
    expect(results.map(({ offset, timestamp, error }) => [offset, timestamp, error?.code])).toEqual([
      [3, null, undefined],
      [10, null, undefined],
      [5, 5000, undefined],
      [null, null, undefined],
      [0, null, undefined],
      [0, null, undefined],
      [undefined, undefined, 'UNKNOWN_TOPIC_OR_PARTITION'],
    ])
    expect(results[6]!.error!.message).toContain('orders-7')
  })

  test('of every partition of a topic, in their order', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { orders: 3 } })
    await using admin = adminOf(kafka)
    await fill(kafka, 4, 'orders', 2)
    const ends = await admin.listOffsets('orders', 'end', { isolation: 'read_committed' })
    expect(ends.map(({ topic, partition, at, offset }) => [topic, partition, at, offset])).toEqual([
      ['orders', 0, 'end', 0],
      ['orders', 1, 'end', 0],
      ['orders', 2, 'end', 4],
    ])
    expect(ends[2]).not.toHaveProperty('error')
  })

  test('a leader that has moved is found again', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 2 } })
    await using admin = adminOf(kafka)
    const fault = kafka.faults.add({
      api: 'ListOffsets',
      partition: 1,
      topic: 'orders',
      times: 2,
      error: 'NOT_LEADER_OR_FOLLOWER',
    })
    expect(await admin.listOffsets('orders', 'end')).toHaveLength(2)
    expect(fault.hits).toBe(2)
    expect(countOf(kafka, 'ListOffsets')).toBe(4)
  })

  test('a partition without leader fails alone, at the deadline', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 2 } })
    await using admin = adminOf(kafka)
    await admin.connect()
    const led = kafka
      .topic('orders')
      .partitions()
      .find(({ leader }) => leader === 2)!.partition
    await kafka.broker(2).kill()
    const results = await admin.listOffsets(
      [0, 1].map((partition) => ({ topic: 'orders', partition, at: 'end' as const })),
      { timeoutMs: 200 },
    )
    expect(results[led]).toMatchObject({ error: { code: 'TIMEOUT', cause: { code: 'LEADER_NOT_AVAILABLE' } } })
    expect(results[1 - led]).toMatchObject({ error: undefined, offset: 0 })
  })
})

describe('deleting records', () => {
  test('the records before an offset go, or all; what cannot be is an error of its own', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 2, other: 1 } })
    await using admin = adminOf(kafka)
    await fill(kafka, 10)
    await fill(kafka, 5, 'orders', 1)
    await admin.createTopic({ topic: 'compacted', configs: { 'cleanup.policy': 'compact' } })
    const results = await admin.deleteRecords([
      { topic: 'orders', partition: 0, before: 4 },
      { topic: 'orders', partition: 1, before: 'end' },
      { topic: 'other', partition: 0, before: 1 },
      { topic: 'compacted', partition: 0, before: 'end' },
      { topic: 'nothing', partition: 0, before: 'end' },
    ])
    expect(
      results.map(({ topic, partition, lowWatermark, error }) => [topic, partition, lowWatermark, error?.code]),
    ).toEqual([
      ['orders', 0, 4, undefined],
      ['orders', 1, 5, undefined],
      ['other', 0, undefined, 'OFFSET_OUT_OF_RANGE'],
      ['compacted', 0, undefined, 'POLICY_VIOLATION'],
      ['nothing', 0, undefined, 'UNKNOWN_TOPIC_OR_PARTITION'],
    ])
    expect((await kafka.topic('orders').records()).map(({ offset }) => offset)).toEqual([4, 5, 6, 7, 8, 9])
    expect(await admin.deleteRecords({ topic: 'orders', partition: 0, before: 6 })).toEqual({
      topic: 'orders',
      partition: 0,
      lowWatermark: 6,
    })
    await expect(admin.deleteRecords({ topic: 'orders', partition: 0, before: 99 })).rejects.toMatchObject({
      code: 'OFFSET_OUT_OF_RANGE',
    })
  })

  test('a lost connection and a moved leader are tried again', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await fill(kafka, 3)
    kafka.faults.add({ api: 'DeleteRecords', times: 1, disconnect: 'after' })
    kafka.faults.add({ api: 'DeleteRecords', times: 1, after: 1, error: 'NOT_LEADER_OR_FOLLOWER' })
    expect(await admin.deleteRecords({ topic: 'orders', partition: 0, before: 2 })).toMatchObject({ lowWatermark: 2 })
    expect(countOf(kafka, 'DeleteRecords')).toBe(3)
  })
})
