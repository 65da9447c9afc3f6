// How to test code that uses Kafka: a broker in the test's own process, faults on the wire, and a look at what is really in the log.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GroupMember, Producer } from 'ottla'
import { startBroker } from 'ottla/broker'

/** The code under test: forwards payments above a limit. */
async function forwardLargePayments(brokers: readonly string[], howMany: number): Promise<void> {
  await using producer = new Producer({ brokers })
  await using member = new GroupMember({ brokers, group: 'forwarder', topics: ['payments'], from: 'beginning' })
  let seen = 0
  for await (const { key, value } of member) {
    if (Number(String(value)) > 100) await producer.send('large-payments', { key, value: String(value) })
    if (++seen === howMany) await member.close()
  }
}

const payments = [50, 150, 99, 1000].map((amount, i) => ({ key: `p-${i}`, value: String(amount) }))

await describe('forwarding large payments', async () => {
  await it('sends on what is above the limit', async () => {
    await using kafka = await startBroker({ topics: { payments: 1, 'large-payments': 1 } })
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send('payments', payments)
    await forwardLargePayments(kafka.brokers, payments.length)
    const forwarded = await kafka.topic('large-payments').records()
    assert.deepEqual(
      forwarded.map(({ value }) => String(value)),
      ['150', '1000'],
    )
  })

  await it('writes nothing twice when a broker fails in the middle', async () => {
    await using kafka = await startBroker({ topics: { payments: 1, 'large-payments': 1 } })
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send('payments', payments)
    // The first record is written, but the answer is lost: the producer has to send it again.
    const lost = kafka.faults.add({ api: 'Produce', topic: 'large-payments', times: 1, disconnect: 'after' })
    const moved = kafka.faults.add({ api: 'Fetch', topic: 'payments', times: 2, error: 'NOT_LEADER_OR_FOLLOWER' })
    await forwardLargePayments(kafka.brokers, payments.length)
    assert.equal(lost.hits, 1)
    assert.equal(moved.hits, 2)
    assert.equal((await kafka.topic('large-payments').records()).length, 2)
  })

  await it('survives that a broker is stopped and started again', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { payments: 3, 'large-payments': 3 } })
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send('payments', payments)
    await kafka.broker(2).kill()
    const forwarding = forwardLargePayments(kafka.brokers, payments.length)
    await kafka.broker(2).start()
    await forwarding
    assert.equal((await kafka.topic('large-payments').records()).length, 2)
  })
})
