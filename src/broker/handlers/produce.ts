// Produce, versions 3-13: as Apache Kafka's. Deviation: there are no transactions yet, so transactional batches are refused with
// INVALID_TXN_STATE.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { Produce } from '../../protocol/messages/produce.js'
import { currentLeader, endpointsOf } from '../advertised.js'
import { append, refusedAppend, type AppendResult } from '../append.js'
import { handler, type RequestContext } from './handler.js'

export const produceHandler = handler(Produce, (request, context) => {
  const { version, cluster, connection } = context
  const { acks } = request
  const leaders = new Set<number>()
  let failures = ''
  const responses = request.topicData.map(({ name, topicId, partitionData }) => {
    const topic = version >= 13 ? cluster.topicById(topicId) : cluster.topics.get(name)
    const unknown = version >= 13 ? errorCodes.UNKNOWN_TOPIC_ID : errorCodes.UNKNOWN_TOPIC_OR_PARTITION
    const partitionResponses = partitionData.map(({ index, records }) => {
      const partition = topic?.partitions[index]
      const code = topic ? errorCodes.UNKNOWN_TOPIC_OR_PARTITION : unknown
      const result =
        acks < -1 || acks > 1
          ? refusedAppend(errorCodes.INVALID_REQUIRED_ACKS)
          : partition
            ? appendAt(partition, records, context)
            : refusedAppend(code)
      if (result.errorCode !== 0) failures ||= `${topic?.name ?? name}-${index}: error ${result.errorCode}`
      if (result.errorCode !== errorCodes.NOT_LEADER_OR_FOLLOWER || !partition) return { index, ...result }
      leaders.add(partition.leaderId)
      return { index, ...result, currentLeader: version >= 10 ? currentLeader(partition) : undefined }
    })
    return { name, topicId, partitionResponses }
  })
  if (acks === 0) {
    // There is no answer that could carry the error: closing makes the client ask for metadata again.
    if (failures !== '') connection.hangUp(`a produce request with acks=0 failed: ${failures}`)
    return null
  }
  const nodeEndpoints = version >= 10 && leaders.size > 0 ? endpointsOf(leaders, cluster.nodes, connection) : undefined
  return { responses, nodeEndpoints }
})

function appendAt(
  partition: Parameters<typeof append>[0],
  records: Buffer | null,
  { broker, clock }: RequestContext,
): AppendResult {
  if (partition.leaderId !== broker.id) return refusedAppend(errorCodes.NOT_LEADER_OR_FOLLOWER)
  return append(partition, records ?? Buffer.alloc(0), clock.date())
}
