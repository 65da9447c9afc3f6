// OffsetDelete, version 0: as Apache Kafka's (KIP-496). Offsets of a topic that an active consumer group subscribes to stay.
import { errorCodes, type ErrorName } from '../../protocol/messages/error-table.js'
import { OffsetDelete } from '../../protocol/messages/offset-delete.js'
import { consumerProtocolType, isSubscribed } from '../groups/group-members.js'
import type { Groups } from '../groups/groups.js'
import type { LiveGroup } from '../groups/live-group.js'
import { handler } from './handler.js'

export const offsetDeleteHandler = (groups: Groups) =>
  handler(OffsetDelete, ({ groupId, topics }, { broker, cluster }) => {
    const group = groups.get(groupId)
    const error = groupId === '' ? 'INVALID_GROUP_ID' : groups.coordinatorError(groupId, broker.id)
    const refused = error === 'NONE' ? groupError(group) : error
    if (!group || refused !== 'NONE') return { errorCode: errorCodes[refused], throttleTimeMs: 0, topics: [] }

    const outcome = (topic: string, partition: number): ErrorName => {
      if (!cluster.partition(topic, partition)) return 'UNKNOWN_TOPIC_OR_PARTITION'
      if (isSubscribed(group.state, topic)) return 'GROUP_SUBSCRIBED_TO_TOPIC'
      group.stored.offsets.delete(topic, partition)
      return 'NONE'
    }
    return {
      errorCode: errorCodes.NONE,
      throttleTimeMs: 0,
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({
          partitionIndex,
          errorCode: errorCodes[outcome(name, partitionIndex)],
        })),
      })),
    }
  })

/** A group of another kind does not say which topics it uses, so its offsets can go only when it is empty. */
function groupError(group: LiveGroup | undefined): ErrorName {
  if (!group || group.state.kind === 'Dead') return 'GROUP_ID_NOT_FOUND'
  const { kind, protocolType } = group.state
  return kind === 'Empty' || protocolType === consumerProtocolType ? 'NONE' : 'NON_EMPTY_GROUP'
}
