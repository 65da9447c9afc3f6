// Fetch, versions 4-18: consumers' reads as Apache Kafka's. Deviations: always whole batches (Kafka may cut the last one);
// replicas do not fetch here, so a replica id is taken for a consumer's.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { Fetch } from '../../protocol/messages/fetch.js'
import type { RequestOf, ResponseInput } from '../../protocol/wire/index.js'
import { currentLeader, endpointsOf } from '../advertised.js'
import { longPoll } from '../fetch/long-poll.js'
import { readAll, resolve, type PartitionFetch, type PartitionRead } from '../fetch/partition-fetch.js'
import { handler, type RequestContext } from './handler.js'

type FetchRequest = RequestOf<typeof Fetch>
type FetchAnswer = ResponseInput<typeof Fetch>

export const fetchHandler = handler(Fetch, (request, context) => {
  const fetches = askedFor(request)
  const { cluster, broker } = context
  const read = () => readAll(fetches, request.maxBytes, cluster, broker.id)
  const first = read()
  if (request.maxWaitMs <= 0 || isEnough(first, request)) return answer(first, request, context)
  let last = first
  const isReady = () => isEnough((last = read()), request)
  const partitions = fetches.flatMap((fetch) => {
    const partition = resolve(fetch, cluster)
    return typeof partition === 'number' ? [] : [partition]
  })
  const { maxWaitMs } = request
  return longPoll({ clock: cluster.clock, maxWaitMs, signal: context.connection.signal, partitions, isReady }).then(() =>
    answer(last, request, context),
  )
})

function askedFor(request: FetchRequest): PartitionFetch[] {
  return request.topics.flatMap(({ topic, topicId, partitions }) =>
    partitions.map((partition) => ({
      topic,
      topicId,
      partition: partition.partition,
      fetchOffset: partition.fetchOffset,
      maxBytes: partition.partitionMaxBytes,
      currentLeaderEpoch: partition.currentLeaderEpoch,
      lastFetchedEpoch: partition.lastFetchedEpoch,
      logStartOffset: partition.logStartOffset,
    })),
  )
}

function isEnough(reads: readonly PartitionRead[], request: FetchRequest): boolean {
  let bytes = 0
  for (const read of reads) {
    if (read.errorCode !== errorCodes.NONE || read.divergingEpoch) return true
    bytes += read.bytes
  }
  return bytes >= request.minBytes || reads.length === 0
}

function answer(reads: readonly PartitionRead[], request: FetchRequest, context: RequestContext): FetchAnswer {
  const { version, cluster, connection } = context
  const leaders = new Set<number>()
  const responses = byTopic(reads).map((ofTopic) => ({
    topic: ofTopic[0]!.fetch.topic,
    topicId: ofTopic[0]!.fetch.topicId,
    partitions: ofTopic.map((read) => {
      const isMoved =
        read.errorCode === errorCodes.NOT_LEADER_OR_FOLLOWER || read.errorCode === errorCodes.FENCED_LEADER_EPOCH
      const leader = version >= 16 && isMoved && read.partition ? currentLeader(read.partition) : undefined
      if (leader) leaders.add(leader.leaderId)
      return partitionAnswer(read, request, leader)
    }),
  }))
  return { throttleTimeMs: 0, errorCode: 0, responses, nodeEndpoints: leaders.size > 0 ? endpointsOf(leaders, cluster.nodes, connection) : undefined }
}

function partitionAnswer(
  { fetch, errorCode, highWatermark, lastStableOffset, logStartOffset, divergingEpoch, chunks }: PartitionRead,
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
    abortedTransactions: isolationLevel === 1 && errorCode === errorCodes.NONE ? [] : null,
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
