// A TypeScript program that has installed ottla: compiled with each moduleResolution, skipLibCheck off, exactOptionalPropertyTypes on.
import { Consumer, Producer, isKafkaError, json, string, topic } from 'ottla'
import { startBroker } from 'ottla/broker'

interface Order {
  readonly id: number
  readonly total: number
}

const orders = topic('orders', { key: string(), value: json<Order>() })

async function main(): Promise<void> {
  const kafka = await startBroker({ topics: { orders: 2 } })
  try {
    const producer = new Producer({ brokers: kafka.brokers, compression: undefined })
    const { partition, offset } = await producer.send(orders, { key: 'c-7', value: { id: 1, total: 12 } })
    const sum: number = partition + offset
    // @ts-expect-error the value is an Order
    await producer.send(orders, { key: 'c-7', value: 'text' })
    await producer.close()

    const ids: number[] = []
    const reader = new Consumer({ brokers: kafka.brokers, topics: [orders], from: 'beginning', to: 'end' })
    for await (const record of reader) {
      // @ts-expect-error an Order has no such field
      void record.value?.nothing
      if (record.value !== null && typeof record.value === 'object') ids.push(record.value.id)
    }
    await reader.close()
    if (ids[0] !== 1 || sum < 0) throw new Error(`got ${ids.join()}`)
    console.log(`ok ${ids.length} records`)
  } finally {
    await kafka.close()
  }
}

main().catch((error: unknown) => {
  console.error(isKafkaError(error) ? `${error.code} ${error.message}` : error)
  process.exitCode = 1
})
