// Many records at a time: for databases and APIs that take rows by the hundred. A batch has records of one partition, in order.
import assert from 'node:assert/strict'
import { GroupMember, Producer } from 'ottla'
import { startBroker } from 'ottla/broker'

await using kafka = await startBroker({ topics: { clicks: 4 } })
await using producer = new Producer({ brokers: kafka.brokers, compression: 'zstd', lingerMs: 5 })
await Promise.all(
  Array.from({ length: 5000 }, (_, i) => producer.send('clicks', { key: `user-${i % 50}`, value: `click ${i}` })),
)

/** Stands for a database. */
const rows: string[] = []
const insert = async (values: readonly string[]): Promise<void> => void rows.push(...values)

await using member = new GroupMember({
  brokers: kafka.brokers,
  group: 'warehouse',
  topics: ['clicks'],
  from: 'beginning',
})
for await (const batch of member.batches({ maxRecords: 500, maxWaitMs: 100 })) {
  await insert(batch.records.map(({ value }) => String(value)))
  await member.commit(batch) // or leave it out: asking for the next batch marks this one as done, and done ones are committed
  console.log(`partition ${batch.partition}: ${batch.length} rows, offsets ${batch.firstOffset} to ${batch.lastOffset}`)
  if (rows.length === 5000) break
}

assert.equal(new Set(rows).size, 5000)
const committed = kafka.groups().flatMap(({ offsets }) => offsets)
assert.equal(
  committed.reduce((sum, { offset }) => sum + offset, 0),
  5000,
)
