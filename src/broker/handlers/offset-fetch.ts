// OffsetFetch, versions 1-10: as Apache Kafka's. One group up to version 7, several from 8 (KIP-709); by topic id from 10.
// No commit is offset -1 without an error. requireStable changes nothing yet: without transactions every offset is stable.
import { errorCodes, type ErrorName } from '../../protocol/messages/error-table.js'
import { OffsetFetch } from '../../protocol/messages/offset-fetch.js'
import type { ClusterState } from '../cluster-state.js'
import type { CommittedOffset, CommittedOffsets } from '../groups/committed-offsets.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

interface TopicAsked {
  readonly name: string
  readonly topicId?: string
  readonly partitionIndexes: readonly number[]
}

export const offsetFetchHandler = (groups: Groups) =>
  handler(OffsetFetch, (request, { broker, cluster, version }) => {
    const fetch = (groupId: string, asked: readonly TopicAsked[] | null) => {
      const error = groups.coordinatorError(groupId, broker.id)
      if (error !== 'NONE') return { error, topics: [] }
      const offsets = groups.get(groupId)?.stored.offsets
      const topics = asked
        ? asked.map((topic) => some(topic, offsets, cluster, version))
        : all(offsets, cluster, version)
      return { error, topics }
    }
    if (version < 8) {
      const { error, topics } = fetch(request.groupId, request.topics)
      // Version 1 has no place for what is wrong with the group but its partitions.
      const inPartitions = error !== 'NONE' && version < 2
      return {
        errorCode: errorCodes[error],
        topics: inPartitions ? (request.topics ?? []).map((topic) => failed(topic, error)) : topics,
      }
    }
    return {
      groups: request.groups.map(({ groupId, topics: asked }) => {
        const { error, topics } = fetch(groupId, asked)
        return { groupId, errorCode: errorCodes[error], topics }
      }),
    }
  })

function answer(partitionIndex: number, committed: CommittedOffset | undefined, error: ErrorName = 'NONE') {
  return {
    partitionIndex,
    committedOffset: committed?.offset ?? -1,
    committedLeaderEpoch: committed?.leaderEpoch ?? -1,
    metadata: committed?.metadata ?? '',
    errorCode: errorCodes[error],
  }
}

function failed({ name, topicId = '', partitionIndexes }: TopicAsked, error: ErrorName) {
  return { name, topicId, partitions: partitionIndexes.map((index) => answer(index, undefined, error)) }
}

function some(asked: TopicAsked, offsets: CommittedOffsets | undefined, cluster: ClusterState, version: number) {
  const { topicId = '' } = asked
  const name = version < 10 ? asked.name : cluster.topicById(topicId)?.name
  if (name === undefined) return failed(asked, 'UNKNOWN_TOPIC_ID')
  return { name, topicId, partitions: asked.partitionIndexes.map((index) => answer(index, offsets?.get(name, index))) }
}

function all(offsets: CommittedOffsets | undefined, cluster: ClusterState, version: number) {
  return [...(offsets?.topics() ?? [])].flatMap(([name, partitions]) => {
    const topicId = cluster.topics.get(name)?.id
    if (version >= 10 && topicId === undefined) return []
    return { name, topicId: topicId ?? '', partitions: [...partitions].map(([index, offset]) => answer(index, offset)) }
  })
}
