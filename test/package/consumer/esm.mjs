// The job of an ESM program that has installed ottla: produce with every codec to a broker in process, read it back, check.
import assert from 'node:assert/strict'
import { Consumer, KafkaError, Producer, int32, isKafkaError, string, topic } from 'ottla'
import { startBroker } from 'ottla/broker'

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const count = 200
const orders = topic('orders', { key: string(), value: string() })
const numbers = topic('numbers', { value: int32() })

const kafka = await startBroker({ topics: { orders: 2, numbers: 1 } })
try {
  for (const compression of codecs) {
    const producer = new Producer({ brokers: kafka.brokers, compression })
    const rows = Array.from({ length: count }, (_, row) => ({
      key: `${row % 7}`,
      value: `${compression} ${row} ${'='.repeat(row)}`,
    }))
    const results = await producer.send(orders, rows)
    assert.equal(results.length, count)
    await producer.close()
  }

  const values = new Set()
  const reader = new Consumer({ brokers: kafka.brokers, topics: [orders], from: 'beginning', to: 'end' })
  for await (const record of reader) values.add(record.value)
  await reader.close()
  assert.equal(values.size, count * codecs.length)
  for (const compression of codecs) assert.ok(values.has(`${compression} 199 ${'='.repeat(199)}`), compression)

  const producer = new Producer({ brokers: kafka.brokers })
  await producer.send(numbers, { value: -5 })
  await producer.close()
  await assert.rejects(producer.send(numbers, { value: 1 }), (error) => isKafkaError(error) && error.code === 'CLOSED')
} finally {
  await kafka.close()
}

// One copy of the error classes for both entries.
await assert.rejects(
  async () => startBroker({ nonsense: true }),
  (error) => error instanceof KafkaError && isKafkaError(error) && error.code === 'INVALID_OPTION',
)
console.log(`ok ${count * codecs.length} records`)
