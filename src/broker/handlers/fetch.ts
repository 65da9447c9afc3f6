// Fetch, versions 4-18: consumers' reads as Apache Kafka's. Deviations: always whole batches (Kafka may cut the last one);
// replicas do not fetch here, so a replica id is taken for a consumer's.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { Fetch } from '../../protocol/messages/fetch.js'
import type { RequestOf, ResponseInput } from '../../protocol/wire/index.js'
import { currentLeader, endpointsOf } from '../advertised.js'
import { longPoll } from '../fetch/long-poll.js'
import type { FetchPlan } from '../fetch/fetch-sessions.js'
import { readAll } from '../fetch/read-partitions.js'
import type { PartitionRead } from '../fetch/partition-read.js'
import { handler, type RequestContext } from './handler.js'

type FetchRequest = RequestOf<typeof Fetch>
type FetchAnswer = ResponseInput<typeof Fetch>

export const fetchHandler = handler(Fetch, (request, context) => {
  const { cluster, broker, version, errorFor } = context
  const plan = broker.fetchSessions.plan(request, version)
  if (plan.errorCode !== errorCodes.NONE) return { throttleTimeMs: 0, errorCode: plan.errorCode, responses: [] }
  const { fetches } = plan
  const maxBytes = Math.min(request.maxBytes, cluster.config.int('fetch.max.bytes'))
  const read = () => readAll(fetches, maxBytes, cluster, broker.id, errorFor)
  const first = read()
  const minBytes = Math.min(request.minBytes, maxBytes)
  if (request.maxWaitMs <= 0 || isEnough(first, minBytes)) return answer(plan, first, request, context)
  let last = first
  const partitions = first.flatMap(({ partition }) => partition ?? [])
  return longPoll({
    clock: cluster.clock,
    maxWaitMs: request.maxWaitMs,
    signal: context.connection.signal,
    partitions,
    isReady: () => isEnough((last = read()), minBytes),
  }).then(() => answer(plan, last, request, context))
})

function isEnough(reads: readonly PartitionRead[], minBytes: number): boolean {
  if (reads.length === 0 || sumOf(reads, ({ bytes }) => bytes) >= minBytes) return true
  if (reads.some(({ errorCode, divergingEpoch }) => errorCode !== errorCodes.NONE || divergingEpoch)) return true
  // What does not fit as a whole batch counts all the same: however long the wait, it would never come.
  return sumOf(reads, couldBeRead) >= minBytes
}

function couldBeRead({ fetch, partition, bytes }: PartitionRead): number {
  return partition ? Math.max(bytes, Math.min(fetch.maxBytes, partition.log.bytesFrom(fetch.fetchOffset))) : bytes
}

function sumOf(reads: readonly PartitionRead[], bytesOf: (read: PartitionRead) => number): number {
  let sum = 0
  for (const read of reads) sum += bytesOf(read)
  return sum
}

function answer(
  plan: FetchPlan,
  reads: readonly PartitionRead[],
  request: FetchRequest,
  { version, cluster, connection }: RequestContext,
): FetchAnswer {
  const told = plan.tell(reads)
  const leaders = new Set<number>()
  const responses = byTopic(told.reads).map((ofTopic) => {
    const { topic, topicId } = (ofTopic[0] as PartitionRead).fetch
    const partitions = ofTopic.map((read) => {
      const leader = version >= 12 ? newLeader(read) : undefined
      if (leader) leaders.add(leader.leaderId)
      return partitionAnswer(read, request, leader)
    })
    return { topic, topicId, partitions }
  })
  const nodeEndpoints = version >= 16 && leaders.size > 0 ? endpointsOf(leaders, cluster.nodes, connection) : undefined
  const { sessionId } = told
  return { throttleTimeMs: 0, errorCode: errorCodes.NONE, sessionId, responses, nodeEndpoints }
}

/** KIP-951: who leads now, for a client that asked the wrong broker. */
function newLeader({ errorCode, partition }: PartitionRead) {
  const isMoved = errorCode === errorCodes.NOT_LEADER_OR_FOLLOWER || errorCode === errorCodes.FENCED_LEADER_EPOCH
  return isMoved && partition ? currentLeader(partition) : undefined
}

function partitionAnswer(
  {
    fetch,
    partition,
    errorCode,
    highWatermark,
    lastStableOffset,
    logStartOffset,
    divergingEpoch,
    chunks,
  }: PartitionRead,
  { isolationLevel }: FetchRequest,
  leader: ReturnType<typeof currentLeader> | undefined,
) {
  return {
    partitionIndex: fetch.partition,
    errorCode,
    highWatermark,
    lastStableOffset,
    logStartOffset,
    divergingEpoch,
    currentLeader: leader,
    abortedTransactions: !partition || (isolationLevel === 1 && errorCode === errorCodes.NONE) ? [] : null,
    preferredReadReplica: -1,
    // Never null: librdkafka takes -1 for a bad size.
    records: chunks,
  }
}

function byTopic(reads: readonly PartitionRead[]): PartitionRead[][] {
  const groups: PartitionRead[][] = []
  for (const read of reads) {
    const last = groups[groups.length - 1]
    const before = last?.[0]?.fetch
    if (last && before?.topic === read.fetch.topic && before.topicId === read.fetch.topicId) last.push(read)
    else groups.push([read])
  }
  return groups
}
