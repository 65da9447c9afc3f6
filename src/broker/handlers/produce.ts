// Produce, versions 3-13: as Apache Kafka's. Deviation: there are no transactions yet, so transactional batches are refused with
// INVALID_TXN_STATE.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { Produce } from '../../protocol/messages/produce.js'
import { attributesAt, transactionalBit } from '../../protocol/records/layout.js'
import type { RequestOf, ResponseInput } from '../../protocol/wire/index.js'
import { currentLeader, endpointsOf } from '../advertised.js'
import { append, refusedAppend, type AppendResult } from '../append.js'
import type { Partition, Topic } from '../topic.js'
import { handler, type RequestContext } from './handler.js'

type ProduceRequest = RequestOf<typeof Produce>
type ProduceAnswer = ResponseInput<typeof Produce>
type PartitionData = ProduceRequest['topicData'][number]['partitionData'][number]

/** One partition's batch with what became of it. */
interface Outcome {
  readonly index: number
  readonly partition: Partition | undefined
  readonly result: AppendResult | Promise<AppendResult>
}

interface Settled extends Outcome {
  readonly result: AppendResult
}

interface TopicOutcome<O extends Outcome> {
  readonly name: string
  readonly topicId: string
  readonly outcomes: readonly O[]
}

export const produceHandler = handler(Produce, (request, context) => {
  const { version, cluster } = context
  if (request.transactionalId === null && hasTransactionalBatch(request)) {
    return answer(refusedWhole(request, errorCodes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED), request, context)
  }
  let isPending = false
  const topics = request.topicData.map(({ name, topicId, partitionData }): TopicOutcome<Outcome> => {
    const topic = version >= 13 ? cluster.topicById(topicId) : cluster.topics.get(name)
    const outcomes = partitionData.map((data) => {
      const outcome = produced(topic, data, request.acks, context)
      if (outcome.result instanceof Promise) isPending = true
      return outcome
    })
    return { name, topicId, outcomes }
  })
  if (isPending) return settled(topics).then((done) => answer(done, request, context))
  return answer(topics as TopicOutcome<Settled>[], request, context)
})

function produced(
  topic: Topic | undefined,
  { index, records }: PartitionData,
  acks: number,
  { version, broker, clock }: RequestContext,
): Outcome {
  const partition = topic?.partitions[index]
  const refused = (code: number): Outcome => ({ index, partition, result: refusedAppend(code) })
  if (acks < -1 || acks > 1) return refused(errorCodes.INVALID_REQUIRED_ACKS)
  if (!topic && version >= 13) return refused(errorCodes.UNKNOWN_TOPIC_ID)
  if (!partition) return refused(errorCodes.UNKNOWN_TOPIC_OR_PARTITION)
  if (partition.leaderId !== broker.id) return refused(errorCodes.NOT_LEADER_OR_FOLLOWER)
  return { index, partition, result: append(partition, records, clock.date()) }
}

/** Transactional batches without a transactional id in the request: nobody may write them. */
function hasTransactionalBatch({ topicData }: ProduceRequest): boolean {
  return topicData.some(({ partitionData }) =>
    partitionData.some(
      ({ records }) =>
        records !== null && records.length > attributesAt + 1 && (records[attributesAt + 1]! & transactionalBit) !== 0,
    ),
  )
}

function refusedWhole({ topicData }: ProduceRequest, code: number): TopicOutcome<Settled>[] {
  return topicData.map(({ name, topicId, partitionData }) => ({
    name,
    topicId,
    outcomes: partitionData.map(({ index }) => ({ index, partition: undefined, result: refusedAppend(code) })),
  }))
}

function settled(topics: readonly TopicOutcome<Outcome>[]): Promise<TopicOutcome<Settled>[]> {
  return Promise.all(
    topics.map(async (topic) => ({
      ...topic,
      outcomes: await Promise.all(
        topic.outcomes.map(async (outcome) => ({ ...outcome, result: await outcome.result })),
      ),
    })),
  )
}

function answer(
  topics: readonly TopicOutcome<Settled>[],
  { acks }: ProduceRequest,
  { version, cluster, connection }: RequestContext,
): ProduceAnswer | null {
  if (acks === 0) {
    // There is no answer that could carry the error: closing makes the client ask for metadata again.
    const failed = topics.flatMap(({ outcomes }) => outcomes).find(({ result }) => result.errorCode !== errorCodes.NONE)
    if (failed) connection.hangUp(`a produce request with acks=0 failed with error ${failed.result.errorCode}`)
    return null
  }
  const leaders = new Set<number>()
  const responses = topics.map(({ name, topicId, outcomes }) => {
    const partitionResponses = outcomes.map(({ index, partition, result }) => {
      const isMoved = version >= 10 && partition && result.errorCode === errorCodes.NOT_LEADER_OR_FOLLOWER
      if (!isMoved) return { index, ...result }
      leaders.add(partition.leaderId)
      return { index, ...result, currentLeader: currentLeader(partition) }
    })
    return { name, topicId, partitionResponses }
  })
  const nodeEndpoints = leaders.size > 0 ? endpointsOf(leaders, cluster.nodes, connection) : undefined
  return { responses, nodeEndpoints }
}
