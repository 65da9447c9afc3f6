// Builds Fetch requests out of what a session must name, and finds the partitions of an answer again. Decides nothing.
import type { Fetch } from '../../protocol/messages/fetch.js'
import type { RequestInput, ResponseOf } from '../../protocol/wire/index.js'
import type { SessionPartition, SessionRequest } from './fetch-session.js'
import type { Isolation } from './offset-lookup.js'

export type FetchAnswer = ResponseOf<typeof Fetch>
export type PartitionAnswer = FetchAnswer['responses'][number]['partitions'][number]

/** From this version on topics go by id (KIP-516). */
export const firstVersionWithIds = 13

export interface FetchLimits {
  readonly maxWaitMs: number
  readonly minBytes: number
  readonly maxBytes: number
  readonly isolation: Isolation
}

export function fetchRequest(
  { sessionId, sessionEpoch, send, forget }: SessionRequest,
  { maxWaitMs, minBytes, maxBytes, isolation }: FetchLimits,
): RequestInput<typeof Fetch> {
  const topics = byTopic(send, ({ partition, fetchOffset, maxBytes, leaderEpoch }) => ({
    partition,
    fetchOffset,
    partitionMaxBytes: maxBytes,
    currentLeaderEpoch: leaderEpoch,
  }))
  const request = {
    maxWaitMs,
    minBytes,
    maxBytes,
    isolationLevel: isolation === 'read_committed' ? 1 : 0,
    sessionId,
    sessionEpoch,
    topics,
  }
  if (forget.length === 0) return request
  return { ...request, forgottenTopicsData: byTopic(forget, ({ partition }) => partition) }
}

/** How an answer names a partition, and SessionPartition.key. */
export function requestKey(topicNameOrId: string, partition: number): string {
  return `${topicNameOrId}:${partition}`
}

function byTopic<T>(
  partitions: readonly SessionPartition[],
  map: (partition: SessionPartition) => T,
): { topic: string; topicId: string; partitions: T[] }[] {
  const topics = new Map<string, { topic: string; topicId: string; partitions: T[] }>()
  for (const partition of partitions) {
    const { topic, topicId } = partition
    // A topic that was created anew has another id: what is forgotten of the old one is named apart.
    const key = `${topicId}:${topic}`
    let entry = topics.get(key)
    if (entry === undefined) topics.set(key, (entry = { topic, topicId, partitions: [] }))
    entry.partitions.push(map(partition))
  }
  return [...topics.values()]
}
