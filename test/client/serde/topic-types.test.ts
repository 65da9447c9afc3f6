// The types that flow from topic() to what is sent and read.
import { expect, expectTypeOf, it } from 'vitest'
import {
  bytes,
  int64,
  json,
  nullable,
  string,
  topic,
  type Bytes,
  type KeyInputOf,
  type KeyOf,
  type RecordOf,
  type Topic,
  type ValueInputOf,
  type ValueOf,
} from '../../../src/client/serde/index.js'

interface Order {
  readonly id: number
  readonly total: number
}

const orders = topic('orders', { key: string(), value: json<Order>() })
const raw = topic('raw')
const counts = topic('counts', { value: int64() })
const binary = topic('binary', { value: bytes() })
const accounts = topic('accounts', { key: string(), value: nullable(json<Order>()) })

it('a typed topic gives keys and values of its serdes', () => {
  expectTypeOf(orders).toEqualTypeOf<Topic<string, Order>>()
  expectTypeOf<RecordOf<typeof orders>>().toEqualTypeOf<{ readonly key: string | null; readonly value: Order }>()
  expectTypeOf<ValueInputOf<typeof orders>>().toEqualTypeOf<Order>()
  expect(orders.name).toBe('orders')
})

it('what is left out is text or bytes in, and a Buffer out', () => {
  expectTypeOf<KeyInputOf<typeof raw>>().toEqualTypeOf<Bytes>()
  expectTypeOf<ValueOf<typeof raw>>().toEqualTypeOf<Buffer | null>()
  expectTypeOf<KeyOf<typeof counts>>().toEqualTypeOf<Buffer>()
  expectTypeOf<ValueOf<typeof counts>>().toEqualTypeOf<bigint>()
  expectTypeOf<ValueInputOf<typeof binary>>().toEqualTypeOf<Uint8Array>()
  expectTypeOf<ValueOf<typeof binary>>().toEqualTypeOf<Buffer>()
  expect(raw.value.deserialize(Buffer.from('as it is'))).toEqual(Buffer.from('as it is'))
  expect([counts.name, binary.name]).toEqual(['counts', 'binary'])
})

it('a topic by name has Buffers, or null for a tombstone', () => {
  expectTypeOf<RecordOf<string>>().toEqualTypeOf<{ readonly key: Buffer | null; readonly value: Buffer | null }>()
})

it('nullable() puts tombstones into the type', () => {
  expectTypeOf<ValueOf<typeof accounts>>().toEqualTypeOf<Order | null>()
  expect(accounts.value.serialize(null)).toBeNull()
})

it('several topics give the union of their types', () => {
  expectTypeOf<ValueOf<typeof orders | typeof counts>>().toEqualTypeOf<Order | bigint>()
})
