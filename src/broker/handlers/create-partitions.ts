// CreatePartitions, versions 0-3: errors as the KRaft controller's. Deviation: one replica only.
import { CreatePartitions } from '../../protocol/messages/create-partitions.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import type { RequestOf } from '../../protocol/wire/index.js'
import { byKey } from '../by-key.js'
import type { ClusterState } from '../cluster-state.js'
import { checkedReplicas, Refused, requireOneReplica, tooManyPartitions } from '../topic-creation.js'
import { handler } from './handler.js'

type Wanted = RequestOf<typeof CreatePartitions>['topics'][number]

export const createPartitionsHandler = handler(CreatePartitions, (request, { cluster }) => {
  const named = [...byKey(request.topics, ({ name }) => name)]
  const results = named.map(([name, { entry: wanted, isRepeated }]) => {
    try {
      if (isRepeated) throw new Refused(errorCodes.INVALID_REQUEST, 'Duplicate topic name.')
      grow(cluster, wanted, request.validateOnly)
      return { name, errorCode: errorCodes.NONE, errorMessage: null }
    } catch (error) {
      if (error instanceof Refused) return { name, errorCode: error.code, errorMessage: error.message }
      throw error
    }
  })
  return { throttleTimeMs: 0, results }
})

function grow(cluster: ClusterState, { name, count, assignments }: Wanted, validateOnly: boolean): void {
  const topic = cluster.topics.get(name)
  if (!topic) {
    throw new Refused(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, 'This server does not host this topic-partition.')
  }
  const current = topic.partitions.length
  if (count === current) {
    throw new Refused(errorCodes.INVALID_PARTITIONS, `Topic already has ${current} partition(s).`)
  }
  if (count < current) {
    const message = `The topic ${name} currently has ${current} partition(s); ${count} would not be an increase.`
    throw new Refused(errorCodes.INVALID_PARTITIONS, message)
  }
  const additional = count - current
  const tooMany = tooManyPartitions(additional)
  if (tooMany) throw tooMany
  if (assignments && assignments.length !== additional) {
    const message = `Attempted to add ${additional} additional partition(s), but only ${assignments.length} assignment(s) were specified.`
    throw new Refused(errorCodes.INVALID_REPLICA_ASSIGNMENT, message)
  }
  const assignment = assignments?.map(({ brokerIds }) => {
    if (brokerIds.length > 1) {
      const message = `The manual partition assignment includes a partition with ${brokerIds.length} replica(s), but this is not consistent with previous partitions, which have 1 replica(s).`
      throw new Refused(errorCodes.INVALID_REPLICA_ASSIGNMENT, message)
    }
    return checkedReplicas(cluster, brokerIds)
  })
  requireOneReplica(cluster, 1)
  if (!validateOnly) cluster.addPartitions(topic, additional, assignment)
}
