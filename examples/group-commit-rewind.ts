// A group: what is done is committed, the next member goes on from there, and a group can be moved back in time.
import assert from 'node:assert/strict'
import { GroupMember, Producer } from 'ottla'
import { startBroker } from 'ottla/broker'

const HOUR_MS = 3_600_000

await using kafka = await startBroker({ topics: { readings: 1 } })
const options = { brokers: kafka.brokers, group: 'report', topics: ['readings'], from: 'beginning' } as const

const now = Date.now()
await using producer = new Producer({ brokers: kafka.brokers })
await producer.send(
  'readings',
  Array.from({ length: 24 }, (_, hour) => ({ value: `hour ${hour}`, timestamp: now - (24 - hour) * HOUR_MS })),
)

/** The next `count` readings; each is done when it is taken. */
async function take(member: GroupMember, count: number): Promise<string[]> {
  const values: string[] = []
  for await (const record of member) {
    values.push(String(record.value))
    record.done() // without it, the last record before a break would come again
    if (values.length === count) break
  }
  return values
}

{
  await using member = new GroupMember(options)
  member.on('assigned', ({ partitions }) => console.log(`assigned: ${partitions.length} partition`))
  console.log(await take(member, 10))
} // closing commits what is done

{
  await using member = new GroupMember({ ...options, commit: 'manual' })
  const values = await take(member, 4)
  await member.commit()
  console.log(values)
  assert.deepEqual(values, ['hour 10', 'hour 11', 'hour 12', 'hour 13'])
  await take(member, 5) // these are not committed
}

await using member = new GroupMember(options)
assert.deepEqual(await take(member, 1), ['hour 14'])

// Once more, from three and a half hours ago on.
await member.rewind(new Date(now - 3.5 * HOUR_MS))
const again = await take(member, 3)
console.log(again)
assert.deepEqual(again, ['hour 21', 'hour 22', 'hour 23'])
assert.equal((await member.lag())[0]?.lag, 0)
