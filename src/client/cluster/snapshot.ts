// Turns metadata answers into the picture of the cluster. Pure: an older picture and an answer give the newer picture.
import { toKafkaError } from '../../protocol/messages/error-table.js'
import type { Metadata } from '../../protocol/messages/metadata.js'
import { zeroUuid, type ResponseOf } from '../../protocol/wire/index.js'
import type { BrokerAddress, ClusterSnapshot, LeaderHint, PartitionMetadata, TopicMetadata } from './topic-metadata.js'

type MetadataResponse = ResponseOf<typeof Metadata>
type TopicResponse = MetadataResponse['topics'][number]

export const emptySnapshot: ClusterSnapshot = {
  clusterId: null,
  controllerId: -1,
  brokers: new Map(),
  topics: new Map(),
}

/** `isFull`: the answer was about all topics in use, so that others are dropped. */
export function mergeMetadata(
  previous: ClusterSnapshot,
  response: MetadataResponse,
  { isFull }: { readonly isFull: boolean },
): ClusterSnapshot {
  const brokers = new Map<number, BrokerAddress>()
  for (const { nodeId, host, port, rack } of response.brokers) brokers.set(nodeId, { nodeId, host, port, rack })
  const topics = new Map<string, TopicMetadata>(isFull ? [] : previous.topics)
  for (const topic of response.topics) {
    if (topic.name !== null) topics.set(topic.name, toTopic(topic, topic.name, previous.topics.get(topic.name)))
  }
  return { clusterId: response.clusterId, controllerId: response.controllerId, brokers, topics }
}

function toTopic(topic: TopicResponse, name: string, known: TopicMetadata | undefined): TopicMetadata {
  const { errorCode, topicId, isInternal } = topic
  if (errorCode !== 0) {
    const error = toKafkaError(errorCode, { what: 'Metadata', topic: name })
    return { name, topicId, isInternal, error, partitions: [] }
  }
  const isSame = known?.topicId === topicId
  const partitions: PartitionMetadata[] = []
  for (const one of topic.partitions) {
    const old = isSame ? known.partitions[one.partitionIndex] : undefined
    // A broker that lags behind may tell of a leader of before: the higher epoch wins.
    const isOlder = old !== undefined && one.leaderEpoch !== -1 && one.leaderEpoch < old.leaderEpoch
    partitions[one.partitionIndex] = isOlder
      ? old
      : {
          partition: one.partitionIndex,
          leaderId: one.errorCode === 0 || one.leaderId >= 0 ? one.leaderId : -1,
          leaderEpoch: one.leaderEpoch,
          replicas: one.replicaNodes,
          isr: one.isrNodes,
          offlineReplicas: one.offlineReplicas,
        }
  }
  // Numbers have no gaps in Kafka; should one come, it is a partition that has no leader.
  for (let i = 0; i < partitions.length; i++) partitions[i] ??= leaderless(i)
  return { name, topicId, isInternal, error: undefined, partitions }
}

function leaderless(partition: number): PartitionMetadata {
  return { partition, leaderId: -1, leaderEpoch: -1, replicas: [], isr: [], offlineReplicas: [] }
}

/** The picture with the leader of one partition changed (KIP-951); undefined when the hint is not news. */
export function withLeader(
  snapshot: ClusterSnapshot,
  name: string,
  partition: number,
  hint: LeaderHint,
): ClusterSnapshot | undefined {
  const topic = snapshot.topics.get(name)
  const old = topic?.partitions[partition]
  if (!topic || !old || hint.leaderId < 0 || hint.leaderEpoch <= old.leaderEpoch) return undefined
  const endpoints = hint.nodeEndpoints ?? []
  const isKnown = snapshot.brokers.has(hint.leaderId) || endpoints.some(({ nodeId }) => nodeId === hint.leaderId)
  if (!isKnown) return undefined
  const brokers = new Map(snapshot.brokers)
  for (const { nodeId, host, port, rack } of endpoints) brokers.set(nodeId, { nodeId, host, port, rack })
  const partitions = [...topic.partitions]
  partitions[partition] = { ...old, leaderId: hint.leaderId, leaderEpoch: hint.leaderEpoch }
  return { ...snapshot, brokers, topics: new Map(snapshot.topics).set(name, { ...topic, partitions }) }
}

/** Something in it will probably be different soon: a topic that is being created, a partition without leader. */
export function isUnsettled({ topics }: ClusterSnapshot): boolean {
  for (const { error, partitions } of topics.values()) {
    if (error ? error.retriable : partitions.some(({ leaderId }) => leaderId < 0)) return true
  }
  return false
}

export function hasTopicId({ topicId }: TopicMetadata): boolean {
  return topicId !== zeroUuid
}
