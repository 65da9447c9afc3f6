// What all chapters share: where the brokers are, the topic, the group, and the books.
import { Admin, Producer } from 'ottla'
import type { Checks } from './checks.js'
import type { Ledger, Tally } from './ledger.js'
import { makeOrders, type OrdersTopic } from './order.js'

export const PARTITIONS = 6

export interface Shop {
  readonly brokers: readonly string[]
  readonly topic: OrdersTopic
  readonly group: string
  /** What was sent. */
  readonly ledger: Ledger
  /** What the group read. */
  readonly tally: Tally
  readonly checks: Checks
}

/** Sends so many new orders, made from `begin` (milliseconds) until now. */
export async function sendOrders(shop: Shop, howMany: number, begin = Date.now()): Promise<void> {
  await using producer = new Producer({ brokers: shop.brokers, compression: 'lz4', lingerMs: 5 })
  const orders = makeOrders(shop.ledger.total, howMany, begin, Date.now())
  shop.ledger.enter(await producer.send(shop.topic, orders))
}

export async function openShop({ brokers, topic }: Shop): Promise<void> {
  await using admin = new Admin({ brokers })
  await admin.connect({ timeoutMs: 10_000 }) // where no Kafka is, say so soon
  await admin.createTopic({ topic, partitions: PARTITIONS })
}

/** Deletes what the tour made. */
export async function closeShop({ brokers, topic, group }: Shop): Promise<void> {
  await using admin = new Admin({ brokers })
  await admin.deleteTopic(topic)
  await admin.deleteGroups([group])
}
