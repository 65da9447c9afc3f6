// Creating topics and adding partitions, and waiting until brokers can be asked about them.
import { KafkaError, UsageError } from '../../errors.js'
import { CreatePartitions } from '../../protocol/messages/create-partitions.js'
import { CreateTopics } from '../../protocol/messages/create-topics.js'
import { zeroUuid, type ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import {
  arrayOf,
  boolean,
  integer,
  option,
  optional,
  required,
  resolveOptions,
  type Check,
} from '../../util/options.js'
import type { Cluster, TopicMetadata } from '../cluster/index.js'
import type { TopicLike } from '../serde/index.js'
import { listOf, maxInt32, refuse, topicNameCheck } from './arguments.js'
import { askController, brokerTimeoutMs, readTopics, transientAtController } from './requests.js'
import { settle, type AdminResult } from './settle.js'

/** A topic to be created. Whatever is left out is the cluster's default. */
export interface NewTopic {
  /** Its name, or what topic() gives. */
  readonly topic: TopicLike
  /** How many partitions. @default the cluster's num.partitions */
  readonly partitions?: number | undefined
  /** How many brokers hold each partition. @default the cluster's default.replication.factor */
  readonly replicationFactor?: number | undefined
  /** Instead of both numbers: the broker ids that hold each partition, the preferred leader first; one array for each partition. */
  readonly assignments?: readonly (readonly number[])[] | undefined
  /** Topic configs by Kafka's names: `{ 'retention.ms': 60_000, 'cleanup.policy': 'compact' }`. @default none */
  readonly configs?: Readonly<Record<string, string | number | boolean>> | undefined
}

export interface CreateTopicsOptions extends WaitOptions {
  /** Only checks whether they could be created. @default false */
  readonly validateOnly?: boolean | undefined
  /** Whether to wait until every partition has a leader, so that the topic can be used at once. @default true */
  readonly waitForLeaders?: boolean | undefined
}

/** What the cluster made of a {@link NewTopic}; null is what an old broker does not tell. */
export interface CreatedTopic {
  /** null also with validateOnly. */
  readonly topicId: string | null
  readonly partitionCount: number | null
  readonly replicationFactor: number | null
}

export type CreateTopicResult = AdminResult<{ readonly topic: string }, CreatedTopic>

/** More partitions for a topic. */
export interface NewPartitions {
  readonly topic: TopicLike
  /** How many the topic has afterwards. */
  readonly total: number
  /** The broker ids that hold each of the added partitions, the preferred leader first. @default the cluster chooses */
  readonly assignments?: readonly (readonly number[])[] | undefined
}

export type AddPartitionsOptions = CreateTopicsOptions

export type AddPartitionsResult = AdminResult<{ readonly topic: string; readonly total: number }>

export const creationOptions = {
  validateOnly: option(boolean, false),
  waitForLeaders: option(boolean, true),
}

export interface CreationConfig {
  readonly validateOnly: boolean
  readonly waitForLeaders: boolean
}

const assignments = optional(arrayOf(arrayOf(integer(0, maxInt32), { min: 1 }), { min: 1 }))

const configTexts: Check<readonly { name: string; value: string }[]> = (value, fail) => {
  const allowed = 'an object of texts, numbers and booleans by config name'
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail(allowed)
  return Object.entries(value).map(([name, one]: [string, unknown]) =>
    typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean'
      ? { name, value: String(one) }
      : fail(`${allowed} (${name} is something else)`),
  )
}

const newTopicSpecs = {
  topic: required(topicNameCheck),
  partitions: optional(integer(1, maxInt32)),
  replicationFactor: optional(integer(1, 32_767)),
  assignments,
  configs: option(configTexts, []),
}

const newPartitionsSpecs = {
  topic: required(topicNameCheck),
  total: required(integer(1, maxInt32)),
  assignments,
}

type NewTopicConfig = ReturnType<typeof resolveOptions<typeof newTopicSpecs>>
type NewPartitionsConfig = ReturnType<typeof resolveOptions<typeof newPartitionsSpecs>>

export function newTopics(call: string, given: unknown): NewTopicConfig[] {
  const parse = (item: unknown, where: string) => {
    const topic = resolveOptions(where, isNewTopic(item) ? item : { topic: item }, newTopicSpecs)
    if (topic.assignments && (topic.partitions !== undefined || topic.replicationFactor !== undefined)) {
      const message = `${where}: assignments take the place of partitions and replicationFactor; give either`
      throw new UsageError(message, 'INVALID_OPTION')
    }
    return topic
  }
  return listOf(call, 'topics', given, parse, ({ topic }) => topic)
}

function isNewTopic(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'topic' in item
}

export function newPartitions(call: string, given: unknown): NewPartitionsConfig[] {
  const parse = (item: unknown, where: string) => {
    const wanted = resolveOptions(where, item, newPartitionsSpecs)
    if (wanted.assignments && wanted.assignments.length >= wanted.total) {
      refuse(`${where}: assignments`, 'of the added partitions alone, so fewer than total', wanted.assignments)
    }
    return wanted
  }
  return listOf(call, 'topics', given, parse, ({ topic }) => topic)
}

export async function createTopics(
  cluster: Cluster,
  topics: readonly NewTopicConfig[],
  { validateOnly, waitForLeaders }: CreationConfig,
  deadline: Deadline,
): Promise<CreateTopicResult[]> {
  const what = 'creating topics'
  const jobs = await settle<NewTopicConfig, CreatedTopic>(
    cluster,
    what,
    topics,
    deadline,
    async (open, rest, attempt) => {
      const request = () => ({
        topics: open.map(({ item }) => createRequest(item)),
        timeoutMs: brokerTimeoutMs(cluster, rest),
        validateOnly,
      })
      const response = await askController(cluster, open, CreateTopics, request, rest, attempt)
      for (const answer of response?.topics ?? []) {
        const job = open.find(({ item }) => item.topic === answer.name)
        const { errorCode, name: topic, errorMessage: brokerMessage } = answer
        if (errorCode === 0) job?.done(createdFrom(answer, validateOnly))
        else job?.refused(errorCode, what, transientAtController, { topic, brokerMessage })
      }
    },
  )
  const results = jobs.map((job) => job.result({ topic: job.item.topic }))
  if (validateOnly || !waitForLeaders) return results
  const made = jobs.flatMap((job, i) => {
    const result = results[i]
    if (result?.error !== undefined) return []
    const { topic, partitions, assignments: chosen } = job.item
    const count = result?.partitionCount ?? chosen?.length ?? partitions ?? 1
    return { topic, topicId: result?.topicId ?? null, count }
  })
  const late = await untilLed(cluster, made, deadline)
  return results.map((result) => withLateness(result, late.get(result.topic)))
}

function createRequest({ topic, partitions, replicationFactor, assignments: chosen, configs }: NewTopicConfig) {
  return {
    name: topic,
    numPartitions: partitions ?? -1,
    replicationFactor: replicationFactor ?? -1,
    assignments: (chosen ?? []).map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds })),
    configs,
  }
}

function createdFrom(answer: ResponseOf<typeof CreateTopics>['topics'][number], validateOnly: boolean): CreatedTopic {
  const { topicId, numPartitions, replicationFactor } = answer
  return {
    // Kafka gives an id out for what it only checked, too.
    topicId: validateOnly || topicId === zeroUuid ? null : topicId,
    partitionCount: numPartitions < 0 ? null : numPartitions,
    replicationFactor: replicationFactor < 0 ? null : replicationFactor,
  }
}

export async function addPartitions(
  cluster: Cluster,
  topics: readonly NewPartitionsConfig[],
  { validateOnly, waitForLeaders }: CreationConfig,
  deadline: Deadline,
): Promise<AddPartitionsResult[]> {
  const what = 'adding partitions'
  const jobs = await settle<NewPartitionsConfig, object>(
    cluster,
    what,
    topics,
    deadline,
    async (open, rest, attempt) => {
      const request = () => ({
        topics: open.map(({ item: { topic: name, total: count, assignments: chosen } }) => ({
          name,
          count,
          assignments: chosen?.map((brokerIds) => ({ brokerIds })) ?? null,
        })),
        timeoutMs: brokerTimeoutMs(cluster, rest),
        validateOnly,
      })
      const response = await askController(cluster, open, CreatePartitions, request, rest, attempt)
      for (const { name: topic, errorCode, errorMessage: brokerMessage } of response?.results ?? []) {
        const job = open.find(({ item }) => item.topic === topic)
        if (errorCode === 0) job?.done({})
        else job?.refused(errorCode, what, transientAtController, { topic, brokerMessage })
      }
    },
  )
  const results = jobs.map((job): AddPartitionsResult => job.result({ topic: job.item.topic, total: job.item.total }))
  if (validateOnly || !waitForLeaders) return results
  const made = results.flatMap(({ error, topic, total }) => (error ? [] : { topic, topicId: null, count: total }))
  const late = await untilLed(cluster, made, deadline)
  return results.map((result) => withLateness(result, late.get(result.topic)))
}

interface Awaited {
  readonly topic: string
  /** null: not known. */
  readonly topicId: string | null
  readonly count: number
}

/**
 * Returns when these topics, and no other, have that many partitions with leaders (T84); what is not so far at the deadline comes back with
 * its error.
 */
async function untilLed(
  cluster: Cluster,
  topics: readonly Awaited[],
  deadline: Deadline,
): Promise<ReadonlyMap<string, KafkaError>> {
  const what = 'waiting for the leaders of new partitions'
  const jobs = await settle<Awaited, object>(cluster, what, topics, deadline, async (open, rest) => {
    const found = await readTopics(
      cluster,
      open.map(({ item }) => item.topic),
      rest,
    )
    for (const job of open) {
      const lack = lackOf(job.item, found.get(job.item.topic))
      if (lack === undefined) job.done({})
      else job.postpone(lack)
    }
  })
  const late = new Map<string, KafkaError>()
  for (const job of jobs) {
    const { topic, error } = job.result({ topic: job.item.topic })
    if (error) late.set(topic, error)
  }
  return late
}

function lackOf({ topic, topicId, count }: Awaited, found: TopicMetadata | undefined): KafkaError | undefined {
  const isOther = topicId !== null && found?.topicId !== topicId
  if (found?.error) return new KafkaError(found.error.message, { code: found.error.code, retriable: true })
  const led = found && !isOther ? found.partitions.filter(({ leaderId }) => leaderId >= 0).length : 0
  if (led >= count) return undefined
  const message = `topic ${topic} is made, but ${count - led} of its ${count} partitions have no leader yet`
  return new KafkaError(message, { code: 'LEADER_NOT_AVAILABLE', retriable: true })
}

/** The topic is there; that it cannot be used yet is an error of the item nevertheless. */
function withLateness<Item, Value>(
  result: AdminResult<Item, Value>,
  error: KafkaError | undefined,
): AdminResult<Item, Value> {
  return error === undefined ? result : { ...result, error, maybeDone: true }
}
