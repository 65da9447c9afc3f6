// Chapter 2: members share the partitions, one more joins, one is killed.
import { bold, chapter, count, remark, red, table } from './screen.js'
import { PARTITIONS, sendOrders, type Shop } from './shop.js'
import { TeamMember } from './team.js'
import { until } from './until.js'

export async function shareAndLose(shop: Shop): Promise<void> {
  const team: TeamMember[] = []
  try {
    await share(shop, team)
    await killOne(shop, team)
    remark('the others stop in good order: they commit what is done, and leave the group')
    await Promise.all(team.map((member) => member.stop()))
  } finally {
    for (const member of team) member.end()
  }
}

async function share(shop: Shop, team: TeamMember[]): Promise<void> {
  chapter(
    `Members share ${PARTITIONS} partitions`,
    'Each member is a process of its own. Every partition is read by exactly one of them.',
  )
  team.push(new TeamMember('anna', shop), new TeamMember('bert', shop))
  await haveEach(team, PARTITIONS / 2)
  await until('all orders are read', () => shop.tally.orders === shop.ledger.total)
  remark(`together they have read all ${count(shop.tally.orders)} orders`)

  team.push(new TeamMember('carl', shop))
  await haveEach(team, PARTITIONS / 3)
  await sendOrders(shop, 3000)
  await until('the new orders are read', () => shop.tally.orders === shop.ledger.total)
  show(team)
  shop.checks.add('orders read by three members', shop.ledger.total, shop.tally.orders)
  shop.checks.add('orders read twice while members joined', 0, shop.tally.readAgain())
}

async function killOne(shop: Shop, team: TeamMember[]): Promise<void> {
  chapter(
    'One is killed',
    'bert gets a kill -9 in the middle of his work. He cannot say goodbye: the coordinator waits for his session',
    'timeout (6 s here), then the others take his partitions over, and begin where he had committed.',
  )
  const [bert] = team.splice(1, 1) as [TeamMember]
  const before = bert.orders
  await sendOrders(shop, 6000)
  await until('bert is at work', () => bert.orders >= before + 200)
  const his = [...bert.partitions]
  await bert.kill()
  remark(red(`bert is dead, after ${count(bert.orders - before)} of the new orders`))
  await haveEach(team, PARTITIONS / 2)
  await until('all orders are read', () => shop.tally.orders === shop.ledger.total)
  show(team)
  const again = shop.tally.readAgain()
  remark(`nothing is lost; ${bold(count(again))} orders that bert had read, but not committed, were read again`)
  shop.checks.add('orders read though one member was killed', shop.ledger.total, shop.tally.orders)
  shop.checks.add("orders read twice that were not bert's", 0, again - shop.tally.readAgain(his))
}

function haveEach(team: readonly TeamMember[], partitions: number): Promise<void> {
  return until(`each member has ${partitions} partitions`, () =>
    team.every((member) => member.partitions.size === partitions),
  )
}

function show(team: readonly TeamMember[]): void {
  table(
    ['member', 'partitions', 'orders read'],
    team.map(({ name, partitions, orders }) => [name, [...partitions].sort().join(', '), orders]),
  )
}
