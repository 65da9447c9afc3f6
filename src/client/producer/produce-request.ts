// From drained batches to a Produce request, and from its answer to what became of each batch.
import { KafkaError } from '../../errors.js'
import { errorByCode, toKafkaError } from '../../protocol/messages/error-table.js'
import type { Produce } from '../../protocol/messages/produce.js'
import { zeroUuid, type RequestInput, type ResponseOf } from '../../protocol/wire/index.js'
import type { LeaderHint } from '../cluster/index.js'
import type { Batch } from './batch.js'
import type { PartitionQueue } from './partition-queue.js'
import type { Outcome } from './partition-window.js'

/** From this version topics are named by their id (KIP-516). */
const firstVersionWithIds = 13

/** A batch on its way, and where its topic had been found when the request was made. */
export interface Shipment {
  readonly queue: PartitionQueue
  readonly batch: Batch
  readonly bytes: Buffer
  readonly topicId: string
}

export type ProduceResponse = ResponseOf<typeof Produce>
export type PartitionAnswer = ProduceResponse['responses'][number]['partitionResponses'][number]

/** The highest version that can name all topics of the request; undefined: any. */
export function maxVersionFor(shipments: readonly Shipment[]): number | undefined {
  return shipments.some(({ topicId }) => topicId === zeroUuid) ? firstVersionWithIds - 1 : undefined
}

export function produceRequest(
  shipments: readonly Shipment[],
  acks: number,
  timeoutMs: number,
): RequestInput<typeof Produce> {
  const topics = new Map<
    string,
    { name: string; topicId: string; partitionData: { index: number; records: Buffer }[] }
  >()
  for (const { queue, bytes, topicId } of shipments) {
    const { name } = queue.topic
    let topic = topics.get(name)
    if (topic === undefined) topics.set(name, (topic = { name, topicId, partitionData: [] }))
    topic.partitionData.push({ index: queue.partition, records: bytes })
  }
  return { acks, timeoutMs, topicData: [...topics.values()] }
}

/** Each shipment with its part of the answer, which need not be in the order of the request. */
export function* answersOf(
  shipments: readonly Shipment[],
  response: ProduceResponse,
): Iterable<readonly [Shipment, PartitionAnswer | undefined]> {
  const answers = new Map<string, PartitionAnswer>()
  for (const topic of response.responses) {
    // Up to version 12 the id is zero, from 13 the name is empty.
    const key = topic.name === '' ? topic.topicId : topic.name
    for (const answer of topic.partitionResponses) answers.set(`${key}/${answer.index}`, answer)
  }
  for (const shipment of shipments) {
    const { topic, partition } = shipment.queue
    yield [shipment, answers.get(`${topic.name}/${partition}`) ?? answers.get(`${shipment.topicId}/${partition}`)]
  }
}

export function outcomeOf({ queue }: Shipment, answer: PartitionAnswer | undefined, nodeId: number): Outcome {
  const context = { what: 'Produce', topic: queue.topic.name, partition: queue.partition, broker: nodeId }
  if (answer === undefined) {
    const message = `Produce to ${queue.name}: broker ${nodeId} left the partition out of its answer`
    return { kind: 'unknown', error: new KafkaError(message, { code: 'MALFORMED_MESSAGE', retriable: true }) }
  }
  const { errorCode, errorMessage, recordErrors } = answer
  const { name } = errorByCode(errorCode)
  if (errorCode === 0) return { kind: 'written', baseOffset: answer.baseOffset, appendTime: answer.logAppendTimeMs }
  // The broker has the batch but no longer knows where.
  if (name === 'DUPLICATE_SEQUENCE_NUMBER') return { kind: 'written', baseOffset: -1, appendTime: -1 }
  const error = toKafkaError(errorCode, { ...context, brokerMessage: errorMessage })
  // Written by the leader, but not by as many replicas as were asked for, or not yet.
  if (name === 'REQUEST_TIMED_OUT' || name === 'NOT_ENOUGH_REPLICAS_AFTER_APPEND') return { kind: 'unknown', error }
  if (recordErrors.length === 0) return { kind: 'refused', error }
  // KIP-467: the broker refuses a batch as a whole and tells which records are to blame.
  const blamed = new Map(recordErrors.map((one) => [one.batchIndex, one.batchIndexErrorMessage]))
  const errorOf = (at: number): KafkaError => {
    if (blamed.has(at)) return toKafkaError(errorCode, { ...context, brokerMessage: blamed.get(at) ?? errorMessage })
    const places = [...blamed.keys()].join(', ')
    const message = `Produce to ${queue.name}: not written, because the broker refused its batch for the sake of record ${places} in it`
    return new KafkaError(message, { code: error.code, retriable: false, cause: error })
  }
  return { kind: 'refused', error, errorOf }
}

/** Who leads now, if the broker that does not has told (KIP-951). */
export function leaderHint(answer: PartitionAnswer | undefined, response: ProduceResponse): LeaderHint | undefined {
  if (answer === undefined || answer.currentLeader.leaderId < 0) return undefined
  return { ...answer.currentLeader, nodeEndpoints: response.nodeEndpoints }
}
