// npm run nightly: what takes too long for npm test. All brokers down for a minute under a producer, a consumer and a group member:
// what that costs in CPU, whether it is visible, and whether all three go on when the brokers are back.
//   npm run nightly -- --seconds 10
import { parseArgs } from 'node:util'
import { Consumer, GroupMember, Producer } from '../src/index.js'
import { startBroker } from '../src/broker.js'
import { systemClock } from '../src/util/clock.js'
import { until } from '../test/helpers/until.js'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } })
const seconds = Number(values.seconds)
if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0, got ${values.seconds}`)

/** Of one core, over the whole time. */
const mostCpu = 0.02

async function allBrokersDown(): Promise<string> {
  await using kafka = await startBroker({ brokers: 3, topics: { orders: 3 } })
  const client = { brokers: kafka.brokers, logger: 'silent' as const }
  await using producer = new Producer({ ...client, deliveryTimeoutMs: (seconds + 60) * 1000 })
  await using consumer = new Consumer({ ...client, topics: ['orders'], from: 'beginning' })
  await using member = new GroupMember({ ...client, group: 'nightly', topics: ['orders'], from: 'beginning' })
  const seen = { consumer: 0, member: 0 }
  const read = async (reader: AsyncIterable<unknown>, name: keyof typeof seen) => {
    for await (const record of reader) if (record) seen[name]++
  }
  const reading = [read(consumer, 'consumer'), read(member, 'member')]
  await producer.send('orders', { value: 'before' })
  await until('both have read it', () => seen.consumer === 1 && seen.member === 1)

  let events = 0
  const count = () => events++
  producer.on('unreachable', count).on('retry', count)
  consumer.on('unreachable', count).on('retry', count)
  member.on('unreachable', count).on('retry', count)
  for (const id of [1, 2, 3]) await kafka.broker(id).kill()
  const waiting = producer.send('orders', { value: 'meanwhile' })
  const began = process.cpuUsage()
  await systemClock.sleep(seconds * 1000)
  const { user, system } = process.cpuUsage(began)
  const cpu = (user + system) / 1e6 / seconds
  const visible = events

  for (const id of [1, 2, 3]) await kafka.broker(id).start()
  await waiting
  await until('both have read the other, too', () => seen.consumer === 2 && seen.member === 2, 30_000)
  await Promise.all([consumer.close(), member.close()])
  await Promise.all(reading)
  if (cpu > mostCpu) throw new Error(`it cost ${(cpu * 100).toFixed(2)} % of a core, allowed are ${mostCpu * 100} %`)
  if (visible === 0) throw new Error('no event told of it')
  return `${(cpu * 100).toFixed(2)} % of a core, ${visible} events, all went on`
}

console.log(`all brokers down for ${seconds} s: ${await allBrokersDown()}`)
