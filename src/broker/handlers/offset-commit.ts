// OffsetCommit, versions 2-10: as Apache Kafka's. Topics by name up to 9, by id from 10 (KIP-848). Each partition has its own
// outcome: an unknown topic or too much metadata fails it alone (T79), what is wrong with the group fails all.
import { errorCodes, type ErrorName } from '../../protocol/messages/error-table.js'
import { OffsetCommit } from '../../protocol/messages/offset-commit.js'
import type { RequestOf } from '../../protocol/wire/index.js'
import type { ClusterState } from '../cluster-state.js'
import { commitError } from '../groups/group-members.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

type Request = RequestOf<typeof OffsetCommit>
type CommitTopic = Request['topics'][number]

export const offsetCommitHandler = (groups: Groups) =>
  handler(OffsetCommit, (request, { broker, cluster, version }) => {
    const topics = request.topics.map((topic) => checked(topic, cluster, version))
    const hasAny = topics.some(({ partitions }) => partitions.some(({ error }) => error === 'NONE'))
    const groupError = hasAny ? accept(groups, request, broker.id, version) : 'NONE'
    const outcomeOf = (error: ErrorName) => errorCodes[error === 'NONE' ? groupError : error]
    if (hasAny && groupError === 'NONE') store(groups, request, topics)
    return {
      topics: topics.map(({ name, topicId, partitions }) => ({
        name,
        topicId,
        partitions: partitions.map(({ partitionIndex, error }) => ({ partitionIndex, errorCode: outcomeOf(error) })),
      })),
    }
  })

function checked(topic: CommitTopic, cluster: ClusterState, version: number) {
  const known = version < 10 ? cluster.topics.get(topic.name) : cluster.topicById(topic.topicId)
  const maxMetadata = cluster.config.int('offset.metadata.max.bytes')
  const errorOf = (index: number, metadata: string | null): ErrorName => {
    if (!known && version >= 10) return 'UNKNOWN_TOPIC_ID'
    if (!known?.partitions[index]) return 'UNKNOWN_TOPIC_OR_PARTITION'
    return (metadata?.length ?? 0) > maxMetadata ? 'OFFSET_METADATA_TOO_LARGE' : 'NONE'
  }
  return {
    name: known?.name ?? topic.name,
    topicId: topic.topicId,
    partitions: topic.partitions.map((partition) => ({
      ...partition,
      error: errorOf(partition.partitionIndex, partition.committedMetadata),
    })),
  }
}

/** NONE when the group takes the commit; a group without members that is not there yet comes into being by it. */
function accept(groups: Groups, request: Request, brokerId: number, version: number): ErrorName {
  const { groupId, memberId, groupInstanceId, generationIdOrMemberEpoch: generation } = request
  const error = groups.coordinatorError(groupId, brokerId)
  if (error !== 'NONE') return error
  const known = groups.get(groupId)
  if (!known && generation >= 0) return version >= 9 ? 'GROUP_ID_NOT_FOUND' : 'ILLEGAL_GENERATION'
  const group = known ?? groups.getOrCreate(groupId)
  return commitError(group.state, { memberId, instanceId: groupInstanceId, generation })
}

function store(groups: Groups, request: Request, topics: readonly ReturnType<typeof checked>[]): void {
  const group = groups.getOrCreate(request.groupId)
  group.handle({ kind: 'committed', memberId: request.memberId })
  const committedAt = groups.cluster.clock.date()
  const expiresAt = request.retentionTimeMs === -1 ? null : committedAt + request.retentionTimeMs
  for (const { name, partitions } of topics)
    for (const { partitionIndex, committedOffset, committedLeaderEpoch, committedMetadata, error } of partitions)
      if (error === 'NONE')
        group.stored.offsets.set(name, partitionIndex, {
          offset: committedOffset,
          leaderEpoch: committedLeaderEpoch,
          metadata: committedMetadata ?? '',
          committedAt,
          expiresAt,
        })
}
