// The smallest program: sends some records, and reads them back. Takes `host:port` of a Kafka as its argument, or starts a broker of its own.
import assert from 'node:assert/strict'
import { Consumer, Producer } from 'ottla'
import { startBroker } from 'ottla/broker'

const [address] = process.argv.slice(2)
const broker = address === undefined ? await startBroker({ topics: { greetings: 3 } }) : undefined
const brokers = broker?.brokers ?? [String(address)]

const producer = new Producer({ brokers })
try {
  const { partition, offset } = await producer.send('greetings', { key: 'en', value: 'hello' })
  console.log(`hello is at offset ${offset} of partition ${partition}`)

  // An array has one promise; records with the same key keep their order.
  await producer.send('greetings', [
    { key: 'fr', value: 'bonjour' },
    { key: 'pl', value: 'dzień dobry', headers: { trace: 'abc' } },
    { key: 'en', value: 'good morning' },
  ])
} finally {
  await producer.close() // waits for what is on its way
}

const texts: string[] = []
const consumer = new Consumer({ brokers, topics: ['greetings'], from: 'beginning', to: 'end' })
try {
  for await (const { key, value } of consumer) {
    texts.push(String(value))
    console.log(`${String(key)}: ${String(value)}`)
  }
} finally {
  await consumer.close()
  await broker?.close()
}

for (const text of ['hello', 'bonjour', 'dzień dobry', 'good morning']) assert.ok(texts.includes(text))
