// Chapter 4: after a clean close the next member goes on exactly where the last one stopped.
import { GroupMember } from 'ottla'
import { bold, chapter, count, remark } from './screen.js'
import { sendOrders, type Shop } from './shop.js'
import { Tally } from './ledger.js'

const ORDERS = 2000
const FIRST = 700

export async function commitAndResume(shop: Shop): Promise<void> {
  chapter(
    'Commit and resume',
    `${count(ORDERS)} more orders come in. dora reads ${FIRST} of them and closes; emil joins later and reads the rest.`,
  )
  const before = shop.ledger.total
  await sendOrders(shop, ORDERS)
  const tally = new Tally(shop.ledger.counts.length)
  await readSome(shop, 'dora', FIRST, tally)
  await readSome(shop, 'emil', ORDERS - FIRST, tally)
  shop.checks.add('orders read by dora and emil', shop.ledger.total - before, tally.orders)
  shop.checks.add('orders read twice after a clean close', 0, tally.readAgain())
}

async function readSome({ brokers, group, topic, checks }: Shop, name: string, howMany: number, tally: Tally) {
  await using member = new GroupMember({ brokers, group, topics: [topic], clientId: name })
  let read = 0
  for await (const record of member) {
    tally.read(record.partition, record.offset)
    record.done() // so that break leaves this one behind, too
    if (++read === howMany) break
  }
  const lag = (await member.lag()).reduce((sum, one) => sum + one.lag, 0)
  remark(`${bold(name)} has read ${count(read)} and closes; ${count(lag)} are left`)
  if (name === 'emil') checks.add('orders left when emil closes', 0, lag)
} // leaving the block closes the member: it commits and leaves the group
