// ListOffsets, versions 1-11: by timestamp and all special timestamps, as Apache Kafka without tiered storage.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { ListOffsets } from '../../protocol/messages/list-offsets.js'
import { leaderError } from '../leadership.js'
import { offsetAt } from '../offset-lookup.js'
import { handler } from './handler.js'

export const listOffsetsHandler = handler(ListOffsets, (request, { cluster, broker, version }) => {
  const topics = request.topics.map(({ name, partitions }) => ({
    name,
    partitions: onceEach(partitions).map(({ partitionIndex, currentLeaderEpoch, timestamp, isRepeated }) => {
      if (isRepeated) return { partitionIndex, errorCode: errorCodes.INVALID_REQUEST }
      const partition = cluster.partition(name, partitionIndex)
      if (!partition) return { partitionIndex, errorCode: errorCodes.UNKNOWN_TOPIC_OR_PARTITION }
      const errorCode = leaderError(partition, broker.id, currentLeaderEpoch)
      if (errorCode !== errorCodes.NONE) return { partitionIndex, errorCode }
      if (timestamp < 0 && !isServed(timestamp, version)) {
        return { partitionIndex, errorCode: errorCodes.UNSUPPORTED_VERSION }
      }
      const found = offsetAt(partition, timestamp)
      return { partitionIndex, errorCode, ...found, leaderEpoch: version >= 4 ? found.leaderEpoch : undefined }
    }),
  }))
  return { topics }
})

const sinceVersion = new Map([
  [-1, 1],
  [-2, 1],
  [-3, 7],
  [-4, 8],
  [-5, 9],
  [-6, 11],
])

function isServed(timestamp: number, version: number): boolean {
  return version >= (sinceVersion.get(timestamp) ?? Infinity)
}

interface Asked {
  readonly partitionIndex: number
  readonly currentLeaderEpoch: number
  readonly timestamp: number
}

/** A partition that is asked for twice is answered once, with an error. */
function onceEach(partitions: readonly Asked[]): (Asked & { readonly isRepeated: boolean })[] {
  const byIndex = new Map<number, Asked & { readonly isRepeated: boolean }>()
  for (const asked of partitions) {
    byIndex.set(asked.partitionIndex, { ...asked, isRepeated: byIndex.has(asked.partitionIndex) })
  }
  return [...byIndex.values()]
}
