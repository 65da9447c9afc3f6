import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  Consumer,
  int64,
  json,
  nullable,
  string,
  topic,
  type ConsumerBatch,
  type ConsumerRecord,
  type ConsumerRecordOf,
} from '../../../src/index.js'

interface Order {
  readonly id: number
}

const brokers = ['localhost:1']
const orders = topic('orders', { key: string(), value: json<Order>() })
const counts = topic('counts', { value: int64() })
const accounts = topic('accounts', { key: string(), value: nullable(json<Order>()) })

const recordsOf = <R>(_: AsyncIterable<R>) => expectTypeOf<R>()

describe('types flow from topics to records', () => {
  test('a topic by its name gives bytes', async () => {
    await using consumer = new Consumer({ brokers, topics: ['orders'] })
    recordsOf(consumer).toEqualTypeOf<ConsumerRecord<Buffer | null, Buffer | null>>()
  })

  test('a typed topic gives its types; keys may be missing, values may be null where the topic says so', async () => {
    await using consumer = new Consumer({ brokers, topics: [orders] })
    recordsOf(consumer).toHaveProperty('value').toEqualTypeOf<Order>()
    recordsOf(consumer).toHaveProperty('key').toEqualTypeOf<string | null>()
    await using nullables = new Consumer({ brokers, topics: [accounts] })
    recordsOf(nullables).toEqualTypeOf<ConsumerRecord<string | null, Order | null>>()
    recordsOf(nullables).toEqualTypeOf<ConsumerRecordOf<typeof accounts>>()
  })

  test('several topics give the union of their records, in batches as well', async () => {
    await using consumer = new Consumer({ brokers, topics: [orders, counts, 'audit'] })
    type Expected =
      | ConsumerRecord<string | null, Order>
      | ConsumerRecord<Buffer | null, bigint>
      | ConsumerRecord<Buffer | null, Buffer | null>
    recordsOf(consumer).toEqualTypeOf<Expected>()
    recordsOf(consumer.batches()).toEqualTypeOf<ConsumerBatch<Expected>>()
  })

  test('partitions of a typed topic are typed too', async () => {
    await using consumer = new Consumer({ brokers, partitions: [{ topic: orders, partition: 0 }] })
    recordsOf(consumer).toHaveProperty('value').toEqualTypeOf<Order>()
  })

  test('options are checked by their types', () => {
    // @ts-expect-error -- no such position
    expect(() => new Consumer({ brokers, topics: ['a'], from: 'start' })).toThrow('from must be')
    // @ts-expect-error -- no such option
    expect(() => new Consumer({ brokers, topics: ['a'], group: 'g' })).toThrow('unknown option')
    expectTypeOf(Consumer).toBeConstructibleWith({ brokers, topics: ['a'], from: { ago: '1h' }, to: undefined })
  })
})
