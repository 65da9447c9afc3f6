// DeleteTopics, versions 1-6: by name, from 6 by id as well; errors as the KRaft controller's.
import { DeleteTopics } from '../../protocol/messages/delete-topics.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import { zeroUuid } from '../../protocol/wire/index.js'
import { byKey } from '../by-key.js'
import type { ClusterState } from '../cluster-state.js'
import { handler } from './handler.js'

interface Wanted {
  readonly name: string | null
  readonly topicId: string
}

export const deleteTopicsHandler = handler(DeleteTopics, (request, { cluster, version }) => {
  const wanted: readonly Wanted[] =
    version >= 6 ? request.topics : request.topicNames.map((name) => ({ name, topicId: zeroUuid }))
  const isDisabled = !cluster.config.bool('delete.topic.enable')
  const disabled = version < 3 ? errorCodes.INVALID_REQUEST : errorCodes.TOPIC_DELETION_DISABLED
  const named = byKey(wanted, ({ name, topicId }) => `${name}/${topicId}`)
  const responses = [...named.values()].map(({ entry: topic, isRepeated }) => {
    if (isDisabled) return failed(topic, disabled, 'Topic deletion is disabled.')
    if (isRepeated) {
      const what = topic.name === null ? 'Duplicate topic id.' : 'Duplicate topic name.'
      return failed(topic, errorCodes.INVALID_REQUEST, what)
    }
    return deleted(cluster, topic)
  })
  return { throttleTimeMs: 0, responses }
})

function failed({ name, topicId }: Wanted, errorCode: number, errorMessage: string) {
  return { name, topicId, errorCode, errorMessage }
}

function deleted(cluster: ClusterState, wanted: Wanted) {
  const { name, topicId } = wanted
  const hasId = topicId !== zeroUuid
  if (name !== null && hasId) {
    return failed(wanted, errorCodes.INVALID_REQUEST, 'You may not specify both topic name and topic id.')
  }
  if (name === null && !hasId) {
    return failed(wanted, errorCodes.INVALID_REQUEST, 'Neither topic name nor id were specified.')
  }
  const topic = name === null ? cluster.topicById(topicId) : cluster.topics.get(name)
  if (!topic) {
    return hasId
      ? failed(wanted, errorCodes.UNKNOWN_TOPIC_ID, 'This server does not host this topic ID.')
      : failed(wanted, errorCodes.UNKNOWN_TOPIC_OR_PARTITION, 'This server does not host this topic-partition.')
  }
  cluster.deleteTopic(topic)
  return { name: topic.name, topicId: topic.id, errorCode: errorCodes.NONE, errorMessage: null }
}
