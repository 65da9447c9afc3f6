// Run as a process of its own by exit.test.ts: produces, reads in a group, closes, and has nothing left to do.
import { GroupMember } from '../../src/client/group/index.js'
import { Producer } from '../../src/client/producer/index.js'

const [brokers = '', variant] = process.argv.slice(2)
const isLost = variant === 'brokers gone' || variant === 'during a retry'
const options = {
  brokers: brokers.split(','),
  logger: 'silent',
  ...(variant === 'during a retry' ? { retryBackoffMs: 60_000, retryBackoffMaxMs: 60_000 } : {}),
} as const

const producer = new Producer(options)
const member = new GroupMember({ ...options, group: 'billing', topics: ['orders'], from: 'beginning', heartbeatMs: 50 })

/** Until both have noticed. */
async function loseBrokers(): Promise<void> {
  const noticed = [
    new Promise((resolve) => producer.once('retry', resolve)),
    new Promise((resolve) => member.once('retry', resolve)),
  ]
  console.log('kill the brokers')
  const sent = producer.send('orders', { value: 'lost' }).catch((error: unknown) => error)
  await Promise.all(noticed)
  await producer.close({ timeoutMs: 100 })
  const error = (await sent) as { readonly code: string }
  if (error.code !== 'CLOSED') throw new Error(`the send came to ${error.code}`)
}

async function main(): Promise<void> {
  await producer.send('orders', [{ value: '0' }, { value: '1' }])
  if (variant !== 'never iterated') {
    const records = member.records()
    await records.next()
    if (variant === 'left by break') await records.return!()
    else await records.next()
  }
  if (isLost) await loseBrokers()
  const closing = Promise.all([producer.close(), member.close({ timeoutMs: isLost ? 100 : 5000 })])
  if (isLost) await closing.catch(() => {})
  else await closing
  if (variant === 'closed twice') await Promise.all([producer.close(), member.close()])
}

await main()
console.log('last line')
