// Deleting, listing and describing topics.
import { KafkaError } from '../../errors.js'
import { DeleteTopics } from '../../protocol/messages/delete-topics.js'
import { compareText } from '../../protocol/topic-partition.js'
import { zeroUuid, type RequestInput } from '../../protocol/wire/index.js'
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import { boolean, option } from '../../util/options.js'
import type { Cluster, PartitionMetadata, TopicMetadata } from '../cluster/index.js'
import { askController, brokerTimeoutMs, isMissing, readTopics, transientAtController } from './requests.js'
import { settle, type AdminResult } from './settle.js'

export interface ListTopicsOptions extends WaitOptions {
  /** Whether Kafka's own topics (`__consumer_offsets` and the like) are listed too. @default false */
  readonly internal?: boolean | undefined
}

export interface TopicListing {
  readonly topic: string
  /** null: the brokers are too old to have ids. */
  readonly topicId: string | null
  readonly isInternal: boolean
  readonly partitionCount: number
}

export interface TopicDescription {
  /** null: the brokers are too old to have ids. */
  readonly topicId: string | null
  readonly isInternal: boolean
  /** In the order of their numbers. */
  readonly partitions: readonly PartitionMetadata[]
}

export type DescribeTopicResult = AdminResult<{ readonly topic: string }, TopicDescription>

export type DeleteTopicResult = AdminResult<{ readonly topic: string }>

// From it on topics are structs, with a name or an id.
const FIRST_VERSION_WITH_IDS = 6

export const listTopicsOptions = { internal: option(boolean, false) }

export async function deleteTopics(
  cluster: Cluster,
  topics: readonly string[],
  deadline: Deadline,
): Promise<DeleteTopicResult[]> {
  const what = 'deleting topics'
  const gone: TopicId[] = []
  const jobs = await settle<string, object>(cluster, what, topics, deadline, async (open, rest, attempt) => {
    const names = open.map(({ item }) => item)
    const timeoutMs = brokerTimeoutMs(cluster, rest)
    const request = (version: number): RequestInput<typeof DeleteTopics> =>
      version < FIRST_VERSION_WITH_IDS
        ? { topicNames: names, timeoutMs }
        : { topics: names.map((name) => ({ name, topicId: zeroUuid })), timeoutMs }
    const response = await askController(cluster, open, DeleteTopics, request, rest, attempt)
    for (const { name, topicId, errorCode, errorMessage: brokerMessage } of response?.responses ?? []) {
      const job = open.find(({ item }) => item === name)
      if (job === undefined) continue
      if (errorCode !== 0) job.refused(errorCode, what, transientAtController, { topic: job.item, brokerMessage })
      else {
        job.done({})
        if (topicId !== zeroUuid) gone.push({ topic: job.item, topicId })
      }
    }
  })
  await untilGone(cluster, gone, deadline)
  return jobs.map((job) => job.result({ topic: job.item }))
}

interface TopicId {
  readonly topic: string
  readonly topicId: string
}

/** Brokers hear of it a moment after the controller. They are deleted in any case, so nothing fails when that takes too long. */
async function untilGone(cluster: Cluster, topics: readonly TopicId[], deadline: Deadline): Promise<void> {
  await settle<TopicId, object>(
    cluster,
    'waiting for deleted topics to be gone',
    topics,
    deadline,
    async (open, rest) => {
      const found = await readTopics(
        cluster,
        open.map(({ item }) => item.topic),
        rest,
      )
      for (const job of open) {
        const { topic, topicId } = job.item
        if (found.get(topic)?.topicId !== topicId) job.done({})
        else
          job.postpone(
            new KafkaError(`topic ${topic} is still listed`, { code: 'TOPIC_ALREADY_EXISTS', retriable: true }),
          )
      }
    },
  )
}

export async function listTopics(
  cluster: Cluster,
  { internal }: { readonly internal: boolean },
  deadline: Deadline,
): Promise<TopicListing[]> {
  const topics = await readTopics(cluster, undefined, deadline)
  return [...topics.values()]
    .filter(({ error, isInternal }) => error === undefined && (internal || !isInternal))
    .map(({ name, topicId, isInternal, partitions }) => ({
      topic: name,
      topicId: topicId === zeroUuid ? null : topicId,
      isInternal,
      partitionCount: partitions.length,
    }))
    .sort((a, b) => compareText(a.topic, b.topic))
}

export async function describeTopics(
  cluster: Cluster,
  topics: readonly string[],
  deadline: Deadline,
): Promise<DescribeTopicResult[]> {
  const jobs = await settle<string, TopicDescription>(
    cluster,
    'describing topics',
    topics,
    deadline,
    async (open, rest) => {
      const found = await readTopics(
        cluster,
        open.map(({ item }) => item),
        rest,
      )
      for (const job of open) {
        const metadata = found.get(job.item) as TopicMetadata
        const { error, topicId, isInternal, partitions } = metadata
        if (error === undefined) job.done({ topicId: topicId === zeroUuid ? null : topicId, isInternal, partitions })
        else if (isMissing(metadata) || !error.retriable) job.fail(error)
        else job.postpone(error)
      }
    },
  )
  return jobs.map((job) => job.result({ topic: job.item }))
}
