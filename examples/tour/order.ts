// What the shop of the tour sells: orders, and the topic that is typed with them once for both sides.
import { json, string, topic, type Topic } from 'ottla'

export interface Order {
  readonly id: number
  readonly customer: string
  readonly total: number
}

export type OrdersTopic = Topic<string, Order>

/** The key is the customer, so that all orders of a customer are in one partition, in order. */
export function ordersTopic(name: string): OrdersTopic {
  return topic(name, { key: string(), value: json<Order>() })
}

const customers = 250

/** Orders `first`, `first + 1`, … as messages, spread evenly over the time from `begin` to `end`. */
export function makeOrders(first: number, count: number, begin: number, end: number) {
  return Array.from({ length: count }, (_, i) => {
    const id = first + i
    const customer = `customer-${(id * 7) % customers}`
    const timestamp = Math.floor(begin + ((end - begin) * i) / count)
    return { key: customer, value: { id, customer, total: 5 + ((id * 37) % 400) }, timestamp }
  })
}
