// Reads what a fetch request or session asks of its partitions. No waiting here.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { zeroUuid } from '../../protocol/wire/index.js'
import type { ClusterState } from '../cluster-state.js'
import { leaderError } from '../leadership.js'
import type { Partition, Topic } from '../topic.js'
import type { ErrorFor, PartitionFetch, PartitionRead } from './partition-read.js'

const noChunks: readonly Buffer[] = []

/** Reads the partitions in order, the first with data whole batches whatever their size (KIP-74). */
export function readAll(
  fetches: Iterable<PartitionFetch>,
  maxBytes: number,
  cluster: ClusterState,
  brokerId: number,
  errorFor?: ErrorFor,
): PartitionRead[] {
  const reads: PartitionRead[] = []
  let left = maxBytes
  let isFirst = true
  for (const fetch of fetches) {
    const read = readOne(fetch, Math.min(fetch.maxBytes, left), isFirst, cluster, brokerId, errorFor)
    if (read.bytes > 0) isFirst = false
    left = Math.max(0, left - read.bytes)
    reads.push(read)
  }
  return reads
}

/** The partition that is meant; the error when there is none. */
export function resolve(fetch: PartitionFetch, cluster: ClusterState): Partition | number {
  let topic: Topic | undefined
  if (fetch.topicId === zeroUuid) {
    topic = cluster.topics.get(fetch.topic)
  } else {
    topic = cluster.topicById(fetch.topicId)
    if (!topic) return errorCodes.UNKNOWN_TOPIC_ID
  }
  return topic?.partitions[fetch.partition] ?? errorCodes.UNKNOWN_TOPIC_OR_PARTITION
}

function readOne(
  fetch: PartitionFetch,
  maxBytes: number,
  isFirst: boolean,
  cluster: ClusterState,
  brokerId: number,
  errorFor: ErrorFor | undefined,
): PartitionRead {
  const partition = resolve(fetch, cluster)
  if (typeof partition === 'number') return failed(fetch, partition, undefined)
  const { log } = partition
  const error =
    errorFor?.(partition.topic.name, partition.index) ?? leaderError(partition, brokerId, fetch.currentLeaderEpoch)
  if (error !== errorCodes.NONE) return failed(fetch, error, partition)
  const found = {
    fetch,
    errorCode: errorCodes.NONE,
    partition,
    highWatermark: partition.highWatermark,
    lastStableOffset: partition.lastStableOffset,
    logStartOffset: log.startOffset,
  }
  const divergingEpoch = divergence(fetch, partition)
  if (divergingEpoch === 'unknown') return failed(fetch, errorCodes.OFFSET_OUT_OF_RANGE, partition)
  if (divergingEpoch) return { ...found, divergingEpoch, chunks: noChunks, bytes: 0 }
  if (fetch.fetchOffset < log.startOffset || fetch.fetchOffset > log.endOffset) {
    return failed(fetch, errorCodes.OFFSET_OUT_OF_RANGE, partition)
  }
  const { chunks, bytes } = log.read(fetch.fetchOffset, maxBytes, isFirst)
  return { ...found, divergingEpoch: undefined, chunks, bytes }
}

/** Errors carry -1 for every offset, as Kafka's ReplicaManager answers them (T40). */
function failed(fetch: PartitionFetch, errorCode: number, partition: Partition | undefined): PartitionRead {
  return {
    fetch,
    errorCode,
    partition,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    divergingEpoch: undefined,
    chunks: noChunks,
    bytes: 0,
  }
}

/** Where the client's log left this one, if it did (KIP-595). */
function divergence(
  { lastFetchedEpoch, fetchOffset }: PartitionFetch,
  { epochs, log }: Partition,
): { epoch: number; endOffset: number } | 'unknown' | undefined {
  if (lastFetchedEpoch < 0) return undefined
  const end = epochs.endOf(lastFetchedEpoch, log.endOffset)
  if (end.epoch < 0) return 'unknown'
  return end.epoch < lastFetchedEpoch || end.endOffset < fetchOffset ? end : undefined
}
