// Chapter 1: typed orders, sent by key and read back.
import { Consumer } from 'ottla'
import type { Order } from './order.js'
import { bar, chapter, count, remark, table } from './screen.js'
import { PARTITIONS, sendOrders, type Shop } from './shop.js'

const ORDERS = 10_000
const DAY_MS = 86_400_000

export async function produceAndReadBack(shop: Shop): Promise<void> {
  chapter(
    `${count(ORDERS)} orders, by customer`,
    `A day of orders goes to ${PARTITIONS} partitions. The key is the customer, so each customer's orders stay in order.`,
  )
  const began = performance.now()
  await sendOrders(shop, ORDERS, Date.now() - DAY_MS)
  remark(`${count(ORDERS)} orders are acknowledged, after ${Math.round(performance.now() - began)} ms`)

  const { counts } = shop.ledger
  const most = Math.max(...counts)
  table(
    ['partition', 'orders', ''],
    counts.map((orders, partition) => [`${partition}`, orders, bar(orders, most)]),
  )
  shop.checks.add('orders acknowledged', ORDERS, shop.ledger.total)
  await readBack(shop)
}

/** Everything, from the beginning to what is the end now. */
async function readBack({ brokers, topic, checks }: Shop): Promise<void> {
  await using reader = new Consumer({ brokers, topics: [topic], from: 'beginning', to: 'end' })
  const orders = new Set<number>()
  const latest = new Map<string, Order>()
  let outOfOrder = 0
  for await (const { key, value } of reader) {
    orders.add(value.id)
    if (key === null || value.id <= (latest.get(key)?.id ?? -1)) outOfOrder++
    else latest.set(key, value)
  }
  remark(`read back: ${count(orders.size)} orders of ${latest.size} customers`)
  checks.add('orders read back', ORDERS, orders.size)
  checks.add("orders out of their customer's order", 0, outOfOrder)
}
