// DescribeTopicPartitions, version 0: topics in the order of their names, in pages (KIP-966); as Apache Kafka's.
import { DescribeTopicPartitions } from '../../protocol/messages/describe-topic-partitions.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import { zeroUuid, type RequestOf, type ResponseInput } from '../../protocol/wire/index.js'
import type { ClusterState } from '../cluster-state.js'
import { whyIllegal } from '../topic-names.js'
import type { Topic } from '../topic.js'
import { handler } from './handler.js'
import { partitionMetadata } from './metadata.js'

type Answer = ResponseInput<typeof DescribeTopicPartitions>
type TopicAnswer = Answer['topics'][number]

export const describeTopicPartitionsHandler = handler(DescribeTopicPartitions, (request, { cluster }) => {
  const { cursor } = request
  const wantsAll = request.topics.length === 0
  const named = wantsAll ? [...cluster.topics.keys()] : request.topics.map(({ name }) => name)
  const from = cursor?.topicName ?? ''
  const names = [...new Set(named)].filter((name) => name >= from).sort()
  if (cursor && (cursor.partitionIndex < 0 || (!wantsAll && !names.includes(cursor.topicName)))) {
    return { throttleTimeMs: 0, topics: named.map((name) => failed(name, errorCodes.INVALID_REQUEST)) }
  }
  const limit = cluster.config.int('max.request.partition.size.limit')
  return page(cluster, names, cursor, Math.max(1, Math.min(limit, request.responsePartitionLimit)))
})

function page(
  cluster: ClusterState,
  names: readonly string[],
  cursor: RequestOf<typeof DescribeTopicPartitions>['cursor'],
  limit: number,
): Answer {
  const topics: TopicAnswer[] = []
  let left = limit
  for (const name of names) {
    const topic = cluster.topics.get(name)
    if (!topic) {
      const isLegal = whyIllegal(name) === undefined
      topics.push(failed(name, isLegal ? errorCodes.UNKNOWN_TOPIC_OR_PARTITION : errorCodes.INVALID_TOPIC_EXCEPTION))
      continue
    }
    if (left === 0) return { throttleTimeMs: 0, topics, nextCursor: { topicName: name, partitionIndex: 0 } }
    const start = cursor?.topicName === name ? cursor.partitionIndex : 0
    const end = Math.min(topic.partitions.length, start + left)
    topics.push(described(topic, start, end, cluster))
    left -= Math.max(0, end - start)
    if (end < topic.partitions.length) {
      return { throttleTimeMs: 0, topics, nextCursor: { topicName: name, partitionIndex: end } }
    }
  }
  return { throttleTimeMs: 0, topics }
}

function failed(name: string, errorCode: number): TopicAnswer {
  return { errorCode, name, topicId: zeroUuid, partitions: [] }
}

function described(topic: Topic, start: number, end: number, cluster: ClusterState): TopicAnswer {
  const partitions = topic.partitions.slice(start, end).map((partition) => ({
    ...partitionMetadata(partition, cluster),
    eligibleLeaderReplicas: [],
    lastKnownElr: [],
  }))
  return { errorCode: errorCodes.NONE, name: topic.name, topicId: topic.id, isInternal: topic.isInternal, partitions }
}
