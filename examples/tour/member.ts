// A member of the group, in a process of its own: `main.ts` starts it, and may kill it. It tells what it gets and what it has read.
import { GroupMember } from 'ottla'
import { ordersTopic } from './order.js'
import type { MemberMessage, MemberSettings } from './team.js'

const { brokers, group, topic } = JSON.parse(process.argv[2] ?? '') as MemberSettings
const tell = (message: MemberMessage): void => void process.send?.(message)

const member = new GroupMember({
  brokers,
  group,
  topics: [ordersTopic(topic)],
  from: 'beginning',
  assignors: ['cooperative-sticky'], // in a rebalance, members keep reading what they keep
  sessionTimeoutMs: 6000, // who is not heard of for so long is replaced
  heartbeatMs: 200,
  commit: { intervalMs: 1000 },
})

member.on('assigned', ({ partitions }) => tell({ type: 'got', partitions: partitions.map((one) => one.partition) }))
member.on('revoked', ({ partitions }) => tell({ type: 'gave', partitions: partitions.map((one) => one.partition) }))
process.once('message', () => {
  member.close().catch((error: unknown) => console.error(error)) // asked to stop: commits what is done, and leaves the group
})
process.once('disconnect', () => process.exit()) // the tour has ended, however it did

for await (const { partition, firstOffset, lastOffset } of member.batches({ maxRecords: 100 })) {
  await new Promise((resolve) => setTimeout(resolve, 10)) // charging takes its time
  tell({ type: 'read', partition, firstOffset, lastOffset })
}
await member.close()
process.disconnect()
