// OffsetForLeaderEpoch, versions 2-4: where a leader epoch ended in this log; as Apache Kafka's.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { OffsetForLeaderEpoch } from '../../protocol/messages/offset-for-leader-epoch.js'
import { leaderError } from '../leadership.js'
import { handler } from './handler.js'

export const offsetForLeaderEpochHandler = handler(OffsetForLeaderEpoch, (request, { cluster, broker }) => {
  const topics = request.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition: index, currentLeaderEpoch, leaderEpoch: asked }) => {
      const partition = cluster.partition(topic, index)
      const errorCode = partition
        ? leaderError(partition, broker.id, currentLeaderEpoch)
        : errorCodes.UNKNOWN_TOPIC_OR_PARTITION
      if (errorCode !== errorCodes.NONE || !partition) return { errorCode, partition: index }
      const { epoch: leaderEpoch, endOffset } = partition.epochs.endOf(asked, partition.log.endOffset)
      return { errorCode, partition: index, leaderEpoch, endOffset }
    }),
  }))
  return { throttleTimeMs: 0, topics }
})
