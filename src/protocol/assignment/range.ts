// Range: each topic's partitions in consecutive runs, one run per member; the first members get one more when it does not divide.
import type { TopicPartition } from '../topic-partition.js'
import { inMemberOrder, subscribersByTopic, type Assignor } from './assignor.js'

export const range: Assignor = {
  name: 'range',
  rebalance: 'eager',
  assign(members, partitionCounts) {
    const assignment = new Map<string, TopicPartition[]>(members.map(({ memberId }) => [memberId, []]))
    for (const [topic, subscribers] of subscribersByTopic(inMemberOrder(members), partitionCounts)) {
      const count = partitionCounts.get(topic) ?? 0
      const each = Math.floor(count / subscribers.length)
      const withOneMore = count % subscribers.length
      let partition = 0
      subscribers.forEach(({ memberId }, i) => {
        const end = partition + each + (i < withOneMore ? 1 : 0)
        for (; partition < end; partition++) assignment.get(memberId)?.push({ topic, partition })
      })
    }
    return assignment
  },
}
