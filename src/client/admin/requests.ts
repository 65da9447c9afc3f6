// The ways of Admin's requests to whoever can carry them out: the controller, the leaders of partitions, and any broker for topics'
// metadata. One attempt each, for settle() to repeat; nothing here is kept.
import { errorCodes, toKafkaError } from '../../protocol/messages/error-table.js'
import { Metadata } from '../../protocol/messages/metadata.js'
import { partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import { zeroUuid, type AnyApi, type RequestInput, type ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster, TopicMetadata } from '../cluster/index.js'
import { emptySnapshot, mergeMetadata } from '../cluster/snapshot.js'
import { codesOf, exchange, type Job } from './settle.js'

/** What the controller says of an item and may not say the next time. */
export const transientAtController = codesOf('NOT_CONTROLLER', 'REQUEST_TIMED_OUT', 'THROTTLING_QUOTA_EXCEEDED')

/** What a leader says of a partition and may not say once the metadata is read anew. */
export const transientAtLeader = codesOf(
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_OR_FOLLOWER',
  'REQUEST_TIMED_OUT',
  'REPLICA_NOT_AVAILABLE',
  'NOT_ENOUGH_REPLICAS',
  'KAFKA_STORAGE_ERROR',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'OFFSET_NOT_AVAILABLE',
)

/** Milliseconds that a broker is given to carry a request out. */
export function brokerTimeoutMs(cluster: Cluster, deadline: Deadline): number {
  return Math.max(1, Math.floor(Math.min(cluster.config.requestTimeoutMs, deadline.remainingMs())))
}

/** The controller's answer about these jobs; undefined when there is none, and the jobs then know why. */
export function askController<A extends AnyApi>(
  cluster: Cluster,
  jobs: readonly Job<unknown>[],
  api: A,
  request: (version: number) => RequestInput<A>,
  deadline: Deadline,
  attempt: number,
): Promise<ResponseOf<A> | undefined> {
  return exchange(jobs, async (sent) => {
    // Whatever made the last attempt fail, the controller may be another one now.
    if (attempt > 1 || cluster.controllerId < 0) await cluster.refreshed(deadline)
    if (cluster.controllerId < 0) throw toKafkaError(errorCodes.NOT_CONTROLLER, { what: api.name })
    const build = (version: number) => {
      sent()
      return request(version)
    }
    return cluster.send(cluster.controllerId, api, build, { deadline })
  })
}

export interface LeaderRequest<A extends AnyApi, Item extends TopicPartition, Value> {
  readonly what: string
  readonly api: A
  readonly request: (jobs: readonly Job<Item, Value>[], leaderEpochOf: (item: Item) => number) => RequestInput<A>
  /** Settles or postpones each of the jobs that were asked about. */
  readonly read: (response: ResponseOf<A>, jobs: readonly Job<Item, Value>[], leaderId: number) => void
}

/** Asks every leader once, all at the same time. A partition that does not exist fails, one without leader is postponed. */
export async function askLeaders<A extends AnyApi, Item extends TopicPartition, Value>(
  cluster: Cluster,
  jobs: readonly Job<Item, Value>[],
  { what, api, request, read }: LeaderRequest<A, Item, Value>,
  deadline: Deadline,
): Promise<void> {
  const topics = await readTopics(cluster, [...new Set(jobs.map(({ item }) => item.topic))], deadline)
  // Brokers refuse a request that names a partition twice: each further question about one goes in a request of its own.
  const requests = new Map<string, { readonly leaderId: number; readonly jobs: Job<Item, Value>[] }>()
  const seen = new Map<string, number>()
  for (const job of jobs) {
    const leaderId = leaderOf(job, topics, what)
    if (leaderId === undefined) continue
    const key = partitionKey(job.item)
    const times = seen.get(key) ?? 0
    seen.set(key, times + 1)
    const known = requests.get(`${leaderId}/${times}`)
    if (known) known.jobs.push(job)
    else requests.set(`${leaderId}/${times}`, { leaderId, jobs: [job] })
  }
  const leaderEpochOf = ({ topic, partition }: Item) => topics.get(topic)?.partitions[partition]?.leaderEpoch ?? -1
  await Promise.all(
    [...requests.values()].map(async ({ leaderId, jobs: asked }) => {
      const response = await exchange(asked, (sent) => {
        const build = () => {
          sent()
          return request(asked, leaderEpochOf)
        }
        return cluster.send(leaderId, api, build, { deadline })
      })
      if (response !== undefined) read(response, asked, leaderId)
    }),
  )
}

function leaderOf<Item extends TopicPartition, Value>(
  job: Job<Item, Value>,
  topics: ReadonlyMap<string, TopicMetadata>,
  what: string,
): number | undefined {
  const { topic, partition } = job.item
  const metadata = topics.get(topic)
  if (metadata?.error !== undefined) {
    if (isMissing(metadata) || !metadata.error.retriable) job.fail(metadata.error)
    else job.postpone(metadata.error)
    return undefined
  }
  const leaderId = metadata?.partitions[partition]?.leaderId
  if (leaderId === undefined) job.fail(toKafkaError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, { what, topic, partition }))
  else if (leaderId < 0) job.postpone(toKafkaError(errorCodes.LEADER_NOT_AVAILABLE, { what, topic, partition }))
  else return leaderId
  return undefined
}

// Before it a request could not say that topics are not to be created.
const FIRST_VERSION_WITH_CREATION = 4

/**
 * Topics as some broker knows them now, or all topics, and none is created by it. Independent of the cluster's own cache: a topic that is
 * gone or has no leader hinders nobody else (T83, T84).
 */
export async function readTopics(
  cluster: Cluster,
  names: readonly string[] | undefined,
  deadline: Deadline,
): Promise<ReadonlyMap<string, TopicMetadata>> {
  const response = await cluster.sendToAny(
    Metadata,
    (version) => {
      const isAll = names === undefined || version < FIRST_VERSION_WITH_CREATION
      return {
        topics: isAll ? (version === 0 ? [] : null) : names.map((name) => ({ name })),
        ...(version < FIRST_VERSION_WITH_CREATION ? {} : { allowAutoTopicCreation: false }),
      }
    },
    { deadline, what: 'reading topics' },
  )
  const { errorCode } = response
  if (errorCode !== 0) throw toKafkaError(errorCode, { what: 'reading topics' })
  const { topics } = mergeMetadata(emptySnapshot, response, { isFull: true })
  if (names === undefined) return topics
  return new Map(names.map((name) => [name, topics.get(name) ?? missing(name)]))
}

/** The cluster has no such topic, as far as the broker that was asked knows. */
export function isMissing({ error }: TopicMetadata): boolean {
  return error?.code === 'UNKNOWN_TOPIC_OR_PARTITION'
}

function missing(name: string): TopicMetadata {
  const error = toKafkaError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, { what: 'reading topics', topic: name })
  return { name, topicId: zeroUuid, isInternal: false, error, partitions: [] }
}
