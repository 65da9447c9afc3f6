// The types that flow from topic() to what is sent and read.
import { expectTypeOf, it } from 'vitest'
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

it('a typed topic gives keys and values of its serdes', () => {
  const orders = topic('orders', { key: string(), value: json<Order>() })
  expectTypeOf(orders).toEqualTypeOf<Topic<string, Order>>()
  expectTypeOf<RecordOf<typeof orders>>().toEqualTypeOf<{ readonly key: string | null; readonly value: Order }>()
  expectTypeOf<ValueInputOf<typeof orders>>().toEqualTypeOf<Order>()
})

it('what is left out is text or bytes in, and a Buffer out', () => {
  const raw = topic('raw')
  expectTypeOf<KeyInputOf<typeof raw>>().toEqualTypeOf<Bytes>()
  expectTypeOf<ValueOf<typeof raw>>().toEqualTypeOf<Buffer | null>()
  const valued = topic('valued', { value: int64() })
  expectTypeOf<KeyOf<typeof valued>>().toEqualTypeOf<Buffer>()
  expectTypeOf<ValueOf<typeof valued>>().toEqualTypeOf<bigint>()
  const binary = topic('binary', { value: bytes() })
  expectTypeOf<ValueInputOf<typeof binary>>().toEqualTypeOf<Uint8Array>()
  expectTypeOf<ValueOf<typeof binary>>().toEqualTypeOf<Buffer>()
})

it('a topic by name has Buffers, or null for a tombstone', () => {
  expectTypeOf<RecordOf<string>>().toEqualTypeOf<{ readonly key: Buffer | null; readonly value: Buffer | null }>()
})

it('nullable() puts tombstones into the type', () => {
  const accounts = topic('accounts', { key: string(), value: nullable(json<Order>()) })
  expectTypeOf<ValueOf<typeof accounts>>().toEqualTypeOf<Order | null>()
})

it('several topics give the union of their types', () => {
  const orders = topic('orders', { value: json<Order>() })
  const counts = topic('counts', { value: int64() })
  expectTypeOf<ValueOf<typeof orders | typeof counts>>().toEqualTypeOf<Order | bigint>()
})
