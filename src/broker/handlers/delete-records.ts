// DeleteRecords, versions 0-2: moves a partition's log start forward, -1 to the high watermark; as Apache Kafka's.
import { DeleteRecords } from '../../protocol/messages/delete-records.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import type { ClusterState } from '../cluster-state.js'
import { handler } from './handler.js'

export const deleteRecordsHandler = handler(DeleteRecords, (request, { cluster, broker }) => {
  const topics = request.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex, offset }) => {
      const errorCode = whyNot(cluster, broker.id, name, partitionIndex, offset)
      const partition = cluster.partition(name, partitionIndex)
      if (errorCode !== errorCodes.NONE || !partition) return { partitionIndex, errorCode, lowWatermark: -1 }
      partition.deleteBefore(offset === -1 ? partition.highWatermark : offset)
      return { partitionIndex, errorCode, lowWatermark: partition.log.startOffset }
    }),
  }))
  return { throttleTimeMs: 0, topics }
})

function whyNot(cluster: ClusterState, brokerId: number, topic: string, index: number, offset: number): number {
  const partition = cluster.partition(topic, index)
  if (!partition) return errorCodes.UNKNOWN_TOPIC_OR_PARTITION
  if (partition.leaderId !== brokerId) return errorCodes.NOT_LEADER_OR_FOLLOWER
  const policies = partition.topic.config.list('cleanup.policy')
  if (policies.includes('compact') && !policies.includes('delete')) return errorCodes.POLICY_VIOLATION
  return offset < -1 || offset > partition.highWatermark ? errorCodes.OFFSET_OUT_OF_RANGE : errorCodes.NONE
}
