// Run as a process of its own: reads a little, closes, and has nothing left to do.
import { Consumer } from '../../../src/client/consumer/index.js'

const [brokers = '', variant] = process.argv.slice(2)
const consumer = new Consumer({
  brokers: brokers.split(','),
  topics: ['orders'],
  from: 'beginning',
  logger: 'silent',
  ...(variant === 'during a retry' ? { retryBackoffMs: 60_000, retryBackoffMaxMs: 60_000 } : {}),
})

async function main(): Promise<void> {
  if (variant === 'never iterated') return
  if (variant === 'left by break') {
    for await (const _ of consumer) break
  } else {
    const records = consumer.records()
    for (let i = 0; i < 10; i++) await records.next()
    if (variant === 'broker gone' || variant === 'during a retry') {
      const retried = new Promise((resolve) => consumer.on('retry', resolve))
      console.log('kill the broker')
      await retried
    }
  }
  await consumer.close()
  if (variant === 'closed twice') await consumer.close()
}

await main()
console.log('last line')
