// The tour of ottla: `npm start`, or `npm start -- --brokers host:port,…` to take it on any Kafka. It checks what it shows, and exits with 1
// if a count is off.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { isKafkaError } from 'ottla'
import { startBroker } from 'ottla/broker'
import { Checks } from './checks.js'
import { Ledger, Tally } from './ledger.js'
import { ordersTopic } from './order.js'
import { produceAndReadBack } from './produce.js'
import { commitAndResume } from './resume.js'
import { rewind } from './rewind.js'
import { bold, chapter, dim, elapsedSeconds, green, red } from './screen.js'
import { shareAndLose } from './share.js'
import { closeShop, openShop, PARTITIONS, type Shop } from './shop.js'

const { values } = parseArgs({ options: { brokers: { type: 'string' } } })

console.log(bold('\nottla: a Kafka client for TypeScript, and a Kafka broker in the box'))
try {
  if (values.brokers === undefined) await onOwnBrokers()
  else await onKafka(values.brokers.split(','))
} catch (error) {
  if (!isKafkaError(error)) throw error
  console.error(red(`\n   the tour ends here: ${error.message} (${error.code})\n`))
  process.exitCode = 1
}

async function onOwnBrokers(): Promise<void> {
  await using kafka = await startBroker({ brokers: 3 })
  console.log(dim(`three brokers of ottla's own run in this process, at ${kafka.brokers.join(', ')}`))
  await tour(kafka.brokers)
}

async function onKafka(brokers: readonly string[]): Promise<void> {
  console.log(dim(`on the Kafka at ${brokers.join(', ')}`))
  await tour(brokers)
}

async function tour(brokers: readonly string[]): Promise<void> {
  const run = randomUUID().slice(0, 8)
  const shop: Shop = {
    brokers,
    topic: ordersTopic(`tour-orders-${run}`),
    group: `tour-billing-${run}`,
    ledger: new Ledger(PARTITIONS),
    tally: new Tally(PARTITIONS),
    checks: new Checks(),
  }
  await openShop(shop)
  try {
    await produceAndReadBack(shop)
    await shareAndLose(shop)
    await commitAndResume(shop)
    await rewind(shop)
  } finally {
    await closeShop(shop)
  }
  chapter('Summary', 'What was claimed above, counted.')
  shop.checks.print()
  const isRight = shop.checks.areAllRight
  const verdict = isRight ? green('everything is as it should be') : red('something is off')
  console.log(`\n   ${verdict}, after ${elapsedSeconds().toFixed(1)} s\n`)
  if (!isRight) process.exitCode = 1
}
