// Typed topics: every serde over a broker and back, and bytes as the serializers of Kafka's Java client write them.
import { describe, expect, expectTypeOf, it } from 'vitest'
import { Consumer } from '../../src/client/consumer/index.js'
import {
  bytes,
  float64,
  int32,
  int64,
  json,
  nullable,
  string,
  topic as typed,
  uuid,
  type Topic,
} from '../../src/client/serde/index.js'
import { useCluster } from './cluster.js'
import { producerOf } from './clients.js'

const cluster = useCluster()

async function roundTrip<V, Out>(base: string, serde: (name: string) => Topic<string, V, string, Out>, values: V[]) {
  const topic = serde(await cluster.createTopic(base))
  await using producer = producerOf(cluster)
  await producer.send(
    topic,
    values.map((value, i) => ({ key: `k${i}`, value })),
  )
  await using consumer = new Consumer({ ...cluster.client, topics: [topic], from: 'beginning', to: 'end' })
  const read: Out[] = []
  for await (const record of consumer) {
    expect(record.key).toBe(`k${read.length}`)
    read.push(record.value)
  }
  return { read, logged: (await cluster.records(topic.name)).map(({ value }) => value) }
}

describe('typed topics', () => {
  it('text and JSON', async () => {
    const texts = ['', 'plain', 'grüße ✓ 🎉']
    const { read } = await roundTrip('string', (name) => typed(name, { key: string(), value: string() }), texts)
    expect(read).toEqual(texts)
    const orders = [
      { id: 1, total: 12.5, tags: ['new'] },
      { id: 2, total: 0, tags: [] },
    ]
    const json_ = await roundTrip(
      'json',
      (name) => typed(name, { key: string(), value: json<(typeof orders)[0]>() }),
      orders,
    )
    expectTypeOf(json_.read).toEqualTypeOf<{ id: number; total: number; tags: string[] }[]>()
    expect(json_.read).toEqual(orders)
  })

  it('numbers, as the Java client writes them', async () => {
    const ints = await roundTrip('int32', (name) => typed(name, { key: string(), value: int32() }), [
      0,
      -1,
      2 ** 31 - 1,
      -(2 ** 31),
    ])
    expect(ints.read).toEqual([0, -1, 2 ** 31 - 1, -(2 ** 31)])
    expect(ints.logged[1]).toBe('\xff\xff\xff\xff')
    const longs = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]
    const read = await roundTrip('int64', (name) => typed(name, { key: string(), value: int64() }), longs)
    expectTypeOf(read.read).toEqualTypeOf<bigint[]>()
    expect(read.read).toEqual(longs)
    expect(read.logged[4]).toBe('\x00\x20\x00\x00\x00\x00\x00\x01')
    const doubles = await roundTrip('float64', (name) => typed(name, { key: string(), value: float64() }), [
      1,
      -0.1,
      1e300,
      Infinity,
    ])
    expect(doubles.read).toEqual([1, -0.1, 1e300, Infinity])
    expect(doubles.logged[0]).toBe('\x3f\xf0\x00\x00\x00\x00\x00\x00')
  })

  it('UUIDs and bytes', async () => {
    const ids = ['123e4567-e89b-12d3-a456-426614174000']
    const { read, logged } = await roundTrip('uuid', (name) => typed(name, { key: string(), value: uuid() }), ids)
    expect([read, logged]).toEqual([ids, ids])
    const raw = [Buffer.of(0, 255), Buffer.alloc(0)]
    const back = await roundTrip('bytes', (name) => typed(name, { key: string(), value: bytes() }), raw)
    expect(back.read).toEqual(raw)
  })

  it('T19 a tombstone reaches no serde', async () => {
    const values = [{ a: 1 }, null]
    const serde = (name: string) => typed(name, { key: string(), value: nullable(json<{ a: number }>()) })
    const { read, logged } = await roundTrip('tombstone', serde, values)
    expect(read).toEqual(values)
    expect(logged[1]).toBeNull()
  })

  it('what cannot be decoded is a typed error at that record, and reading can go on', async () => {
    const name = await cluster.createTopic('broken')
    await using producer = producerOf(cluster)
    await producer.send(name, [{ value: '{"a":1}' }, { value: 'no JSON' }, { value: '{"a":3}' }])
    const topic = typed(name, { value: json<{ a: number }>() })
    await using consumer = new Consumer({ ...cluster.client, topics: [topic], from: 'beginning', to: 'end' })
    const seen: (number | string)[] = []
    for await (const record of consumer) {
      try {
        seen.push(record.value.a)
      } catch (error) {
        expect(error).toMatchObject({ name: 'RecordError', topic: name, partition: 0, offset: 1, nextOffset: 2 })
        seen.push((error as { code: string }).code)
      }
    }
    expect(seen).toEqual([1, 'DESERIALIZATION_FAILED', 3])
  })
})
