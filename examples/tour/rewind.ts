// Chapter 5: the same group reads again, from an offset and from a time.
import { GroupMember, type StartPosition } from 'ottla'
import { chapter, count, remark } from './screen.js'
import type { Shop } from './shop.js'

const OFFSET = 1500
const SIX_HOURS_MS = 6 * 3_600_000

export async function rewind(shop: Shop): Promise<void> {
  chapter('Rewind', 'The log keeps everything, so a group can read again: from an offset, or from a time.')
  const { brokers, group, topic, ledger, checks } = shop
  await using member = new GroupMember({ brokers, group, topics: [topic] })

  const fromOffset = await readAgain(member, OFFSET)
  remark(`from offset ${OFFSET} in every partition: ${count(fromOffset)} orders`)
  checks.add(`orders read again from offset ${OFFSET}`, ledger.fromOffset(OFFSET), fromOffset)

  const time = new Date(Date.now() - SIX_HOURS_MS)
  const fromTime = await readAgain(member, time)
  remark(`from ${time.toISOString()}, six hours ago: ${count(fromTime)} orders`)
  checks.add('orders read again from six hours ago', ledger.since(time), fromTime)
}

/** Moves the group to a place, and counts the orders from there to the end. */
async function readAgain(member: GroupMember<Shop['topic']>, place: StartPosition): Promise<number> {
  await member.rewind(place)
  let left = (await member.lag()).reduce((sum, one) => sum + one.lag, 0)
  let orders = 0
  if (left === 0) return 0
  for await (const record of member) {
    orders++
    record.done()
    if (--left === 0) break
  }
  return orders
}
