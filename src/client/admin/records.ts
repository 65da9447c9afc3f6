// Deleting the records at the beginning of partitions.
import { DeleteRecords } from '../../protocol/messages/delete-records.js'
import { byTopic, partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import type { Deadline } from '../../util/deadline.js'
import { required, resolveOptions, type Check } from '../../util/options.js'
import type { Cluster } from '../cluster/index.js'
import type { TopicLike } from '../serde/index.js'
import { listOf, partitionSpecs } from './arguments.js'
import { askLeaders, brokerTimeoutMs, transientAtLeader } from './requests.js'
import { settle, type AdminResult, type Job } from './settle.js'

/** Which records of a partition go. */
export interface RecordsToDelete {
  readonly topic: TopicLike
  readonly partition: number
  /** Those below this offset; 'end': all that are there now. */
  readonly before: number | 'end'
}

export interface DeletedRecords {
  /** The offset at which the partition begins from now on. */
  readonly lowWatermark: number
}

export type DeleteRecordsResult = AdminResult<TopicPartition, DeletedRecords>

interface Deletion extends TopicPartition {
  /** As the request has it. */
  readonly offset: number
}

const HIGH_WATERMARK = -1

const before: Check<number> = (value, fail) => {
  if (value === 'end') return HIGH_WATERMARK
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : fail("an offset, or 'end'")
}

const specs = { ...partitionSpecs, before: required(before) }

export function recordsToDelete(call: string, given: unknown): Deletion[] {
  const parse = (item: unknown, where: string) => {
    const { topic, partition, before: offset } = resolveOptions(where, item, specs)
    return { topic, partition, offset }
  }
  return listOf(call, 'partitions', given, parse, partitionKey)
}

export async function deleteRecords(
  cluster: Cluster,
  deletions: readonly Deletion[],
  deadline: Deadline,
): Promise<DeleteRecordsResult[]> {
  const what = 'deleting records'
  const jobs = await settle<Deletion, DeletedRecords>(cluster, what, deletions, deadline, (open, rest) =>
    askLeaders(
      cluster,
      open,
      {
        what,
        api: DeleteRecords,
        request: (asked) => ({ topics: topicsOf(asked), timeoutMs: brokerTimeoutMs(cluster, rest) }),
        read: ({ topics }, asked, broker) => {
          for (const { name: topic, partitions } of topics)
            for (const { partitionIndex: partition, errorCode, lowWatermark } of partitions) {
              const job = asked.find(({ item }) => item.topic === topic && item.partition === partition)
              if (errorCode === 0) job?.done({ lowWatermark })
              else job?.refused(errorCode, what, transientAtLeader, { topic, partition, broker })
            }
        },
      },
      rest,
    ),
  )
  return jobs.map((job) => job.result({ topic: job.item.topic, partition: job.item.partition }))
}

function topicsOf(jobs: readonly Job<Deletion>[]) {
  return [...byTopic(jobs.map(({ item }) => item))].map(([name, partitions]) => ({
    name,
    partitions: partitions.map(({ partition: partitionIndex, offset }) => ({ partitionIndex, offset })),
  }))
}
