// Round robin: all partitions of all topics dealt out in turn, passing over members that do not subscribe to the topic.
import type { TopicPartition } from '../topic-partition.js'
import { inMemberOrder, subscribersByTopic, type Assignor } from './assignor.js'

export const roundRobin: Assignor = {
  name: 'roundrobin',
  rebalance: 'eager',
  assign(members, partitionCounts) {
    const order = inMemberOrder(members)
    const assignment = new Map<string, TopicPartition[]>(order.map(({ memberId }) => [memberId, []]))
    let turn = 0
    for (const [topic, subscribers] of subscribersByTopic(order, partitionCounts)) {
      const eligible = new Set(subscribers)
      for (let partition = 0; partition < (partitionCounts.get(topic) ?? 0); partition++) {
        let member = order[turn++ % order.length]
        while (member && !eligible.has(member)) member = order[turn++ % order.length]
        if (member) assignment.get(member.memberId)?.push({ topic, partition })
      }
    }
    return assignment
  },
}
