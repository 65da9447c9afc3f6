// CreateTopics, versions 2-7: validation and error texts as the KRaft controller's. Deviation: one replica only
// (INVALID_REPLICATION_FACTOR otherwise).
import { CreateTopics } from '../../protocol/messages/create-topics.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import { byKey } from '../by-key.js'
import type { ClusterState } from '../cluster-state.js'
import { randomUuid } from '../identity.js'
import { planTopic, Refused, tooManyPartitions, type NewTopic } from '../topic-creation.js'
import { handler } from './handler.js'

export const createTopicsHandler = handler(CreateTopics, (request, { cluster }) => {
  const named = [...byKey(request.topics, ({ name }) => name)]
  const partitions = request.topics.reduce((sum, { numPartitions, assignments }) => {
    return sum + Math.max(1, numPartitions, assignments.length)
  }, 0)
  const tooMany = tooManyPartitions(partitions)
  if (tooMany) {
    const topics = named.map(([name]) => failed(name, tooMany.code, tooMany.message))
    return { throttleTimeMs: 0, topics }
  }
  const topics = named.map(([name, { entry: topic, isRepeated }]) => {
    if (isRepeated) return failed(name, errorCodes.INVALID_REQUEST, 'Duplicate topic name.')
    try {
      return created(cluster, topic, request.validateOnly)
    } catch (error) {
      if (error instanceof Refused) return failed(name, error.code, error.message)
      throw error
    }
  })
  return { throttleTimeMs: 0, topics }
})

function failed(name: string, errorCode: number, errorMessage: string) {
  return { name, errorCode, errorMessage, configs: null }
}

function created(cluster: ClusterState, wanted: NewTopic, validateOnly: boolean) {
  const { partitions, assignment, texts } = planTopic(cluster, wanted)
  const topic = validateOnly ? undefined : cluster.createTopic(wanted.name, partitions, texts, assignment)
  const config = topic?.config ?? cluster.topicConfig(texts)
  return {
    name: wanted.name,
    topicId: topic?.id ?? randomUuid(),
    errorCode: errorCodes.NONE,
    errorMessage: null,
    numPartitions: partitions,
    replicationFactor: 1,
    configs: [...config.definitions].map(({ name }) => ({
      name,
      value: config.text(name),
      readOnly: false,
      configSource: config.source(name),
      isSensitive: false,
    })),
  }
}
