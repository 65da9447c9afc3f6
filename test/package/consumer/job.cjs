// The same job for CommonJS, as a function: used by a plain program, by a Jest test and by a bundle.
const assert = require('node:assert/strict')
const { Consumer, KafkaError, Producer, isKafkaError, string, topic } = require('ottla')
const { startBroker } = require('ottla/broker')

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const count = 200

exports.job = async () => {
  const orders = topic('orders', { key: string(), value: string() })
  const kafka = await startBroker({ topics: { orders: 2 } })
  const values = new Set()
  try {
    for (const compression of codecs) {
      const producer = new Producer({ brokers: kafka.brokers, compression })
      const rows = Array.from({ length: count }, (_, row) => ({ key: `${row % 7}`, value: `${compression} ${row}` }))
      await producer.send(orders, rows)
      await producer.close()
    }
    const reader = new Consumer({ brokers: kafka.brokers, topics: [orders], from: 'beginning', to: 'end' })
    for await (const record of reader) values.add(record.value)
    await reader.close()
  } finally {
    await kafka.close()
  }
  for (const compression of codecs) assert.ok(values.has(`${compression} 199`), compression)
  await assert.rejects(
    async () => startBroker({ nonsense: true }),
    (error) => error instanceof KafkaError && isKafkaError(error) && error.code === 'INVALID_OPTION',
  )
  return values.size
}
