// A group member in a process of its own, so that a test can kill it as a machine that fails does. It is given its options as JSON; it prints
// a line of JSON for every assignment, and for every record before it is done.
import { GroupMember } from '../../src/client/group/index.js'

const options = JSON.parse(process.argv[2] ?? '{}') as ConstructorParameters<typeof GroupMember>[0]
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const member = new GroupMember(options)
member.on('assigned', ({ partitions }) => say({ assigned: partitions.length }))
for await (const { partition, offset, value } of member) {
  say({ partition, offset, value: Number(String(value as Buffer)) })
}
