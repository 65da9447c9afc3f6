// Metadata, versions 0-13: as Apache Kafka's, by name or id, with auto-creation by auto.create.topics.enable.
// Null (an empty list in version 0) asks for all topics. Authorized operations are never computed: there are no ACLs.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { Metadata } from '../../protocol/messages/metadata.js'
import { zeroUuid } from '../../protocol/wire/index.js'
import { addressOf } from '../advertised.js'
import type { ClusterState } from '../cluster-state.js'
import { createByName } from '../topic-creation.js'
import { noLeader, type Partition, type Topic } from '../topic.js'
import { whyIllegal } from '../topic-names.js'
import { handler } from './handler.js'

export const metadataHandler = handler(Metadata, (request, { cluster, version, connection }) => {
  const wantsAll = request.topics === null || (version === 0 && request.topics.length === 0)
  const mayCreate = request.allowAutoTopicCreation && cluster.config.bool('auto.create.topics.enable')
  const topics = wantsAll
    ? [...cluster.topics.values()].map((topic) => described(topic, cluster))
    : wanted(request.topics ?? [], version).map((one) => {
        if (typeof one === 'string') return byName(one, cluster, mayCreate)
        const topic = cluster.topicById(one.topicId)
        return topic ? described(topic, cluster) : missing(null, errorCodes.UNKNOWN_TOPIC_ID, one.topicId)
      })
  return {
    brokers: cluster.aliveNodes().map((node) => ({ nodeId: node.id, ...addressOf(node, connection), rack: node.rack })),
    clusterId: cluster.clusterId,
    controllerId: cluster.controllerId,
    // Before version 12 a name cannot be null.
    topics: topics.map((topic) => (version < 12 && topic.name === null ? { ...topic, name: '' } : topic)),
  }
})

/** Each topic once. As in Kafka, names beside ids are not looked at. */
function wanted(
  topics: readonly { readonly name: string | null; readonly topicId: string }[],
  version: number,
): (string | { readonly topicId: string })[] {
  const ids = version < 10 ? [] : topics.map(({ topicId }) => topicId).filter((id) => id !== zeroUuid)
  if (ids.length > 0) return [...new Set(ids)].map((topicId) => ({ topicId }))
  return [...new Set(topics.map(({ name }) => name ?? ''))]
}

function byName(name: string, cluster: ClusterState, mayCreate: boolean) {
  const known = cluster.topics.get(name)
  if (known) return described(known, cluster)
  if (whyIllegal(name) !== undefined) return missing(name, errorCodes.INVALID_TOPIC_EXCEPTION)
  // Whoever asks first is told to ask again; why a topic cannot be created is not told.
  if (mayCreate) createByName(cluster, name)
  return missing(name, errorCodes.UNKNOWN_TOPIC_OR_PARTITION)
}

function missing(name: string | null, errorCode: number, topicId = zeroUuid) {
  return { errorCode, name, topicId, isInternal: false, partitions: [] }
}

function described(topic: Topic, cluster: ClusterState) {
  const { name, id: topicId, isInternal } = topic
  return {
    errorCode: errorCodes.NONE,
    name,
    topicId,
    isInternal,
    partitions: topic.partitions.map((partition) => partitionMetadata(partition, cluster)),
  }
}

export function partitionMetadata(partition: Partition, cluster: ClusterState) {
  const { index: partitionIndex, leaderId, leaderEpoch, replicas } = partition
  return {
    errorCode: leaderId === noLeader ? errorCodes.LEADER_NOT_AVAILABLE : errorCodes.NONE,
    partitionIndex,
    leaderId,
    leaderEpoch,
    replicaNodes: replicas,
    isrNodes: replicas,
    offlineReplicas: replicas.filter((id) => !cluster.nodes.get(id)?.isAlive),
  }
}
