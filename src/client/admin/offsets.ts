// Offsets of partitions: their beginning, their end, the first record at or after a time.
import { ListOffsets } from '../../protocol/messages/list-offsets.js'
import { byTopic, type TopicPartition } from '../../protocol/topic-partition.js'
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import { oneOf, option, required, resolveOptions, type Check } from '../../util/options.js'
import type { Cluster } from '../cluster/index.js'
import type { TopicLike } from '../serde/index.js'
import { listOf, partitionSpecs, refuse } from './arguments.js'
import { askLeaders, brokerTimeoutMs, readTopics, transientAtLeader } from './requests.js'
import { only, settle, type AdminResult, type Job } from './settle.js'

/**
 * A place in a partition: its first record ('beginning'), behind its last one ('end'), or the first record whose timestamp is at or after a
 * time.
 */
export type OffsetAt = 'beginning' | 'end' | Date

export interface OffsetQuestion {
  readonly topic: TopicLike
  readonly partition: number
  readonly at: OffsetAt
}

export interface ListOffsetsOptions extends WaitOptions {
  /**
   * What 'end' means: behind the last record ('read_uncommitted'), or behind the last one that no open transaction precedes
   * ('read_committed'). @default 'read_uncommitted'
   */
  readonly isolation?: 'read_committed' | 'read_uncommitted' | undefined
}

export interface ListedOffset {
  /** null: there is no record at or after the time. */
  readonly offset: number | null
  /** Of the record that was found for a time, in milliseconds since 1970; null otherwise. */
  readonly timestamp: number | null
  /** null: the broker does not tell. */
  readonly leaderEpoch: number | null
}

export type ListOffsetsResult = AdminResult<TopicPartition & { readonly at: OffsetAt }, ListedOffset>

/** An offset of a partition, as {@link ListedOffset} has it. */
export type PartitionOffset = TopicPartition & { readonly at: OffsetAt } & ListedOffset

export const listOffsetsOptions = {
  isolation: option<'read_committed' | 'read_uncommitted'>(
    oneOf('read_uncommitted', 'read_committed'),
    'read_uncommitted',
  ),
}

export interface ListOffsetsConfig {
  readonly isolation: 'read_committed' | 'read_uncommitted'
}

interface Question extends TopicPartition {
  readonly at: OffsetAt
}

const LATEST = -1
const EARLIEST = -2

const offsetAt: Check<OffsetAt> = (value, fail) =>
  value === 'beginning' || value === 'end' || (value instanceof Date && Number.isFinite(value.getTime()))
    ? value
    : fail("'beginning', 'end' or a valid Date")

const specs = { ...partitionSpecs, at: required(offsetAt) }

export function offsetQuestions(call: string, given: unknown): Question[] {
  return listOf(
    call,
    'questions',
    given,
    (item, where) => resolveOptions(where, item, specs),
    () => undefined,
  )
}

export function checkedOffsetAt(call: string, given: unknown): OffsetAt {
  return offsetAt(given, (allowed) => refuse(`Admin.${call}: at`, allowed, given))
}

export async function listOffsets(
  cluster: Cluster,
  questions: readonly Question[],
  { isolation }: ListOffsetsConfig,
  deadline: Deadline,
): Promise<ListOffsetsResult[]> {
  const what = 'listing offsets'
  const jobs = await settle<Question, ListedOffset>(cluster, what, questions, deadline, (open, rest) =>
    askLeaders(
      cluster,
      open,
      {
        what,
        api: ListOffsets,
        request: (asked, leaderEpochOf) => ({
          replicaId: -1,
          isolationLevel: isolation === 'read_committed' ? 1 : 0,
          topics: topicsOf(asked, leaderEpochOf),
          timeoutMs: brokerTimeoutMs(cluster, rest),
        }),
        read: ({ topics }, asked, broker) => {
          for (const { name: topic, partitions } of topics)
            for (const { partitionIndex: partition, errorCode, ...found } of partitions) {
              const job = asked.find(({ item }) => item.topic === topic && item.partition === partition)
              if (errorCode === 0) job?.done(listed(found))
              else job?.refused(errorCode, what, transientAtLeader, { topic, partition, broker })
            }
        },
      },
      rest,
    ),
  )
  return jobs.map((job) => job.result({ topic: job.item.topic, partition: job.item.partition, at: job.item.at }))
}

/** Of every partition of the topic. Throws the first error. */
export async function listTopicOffsets(
  cluster: Cluster,
  topic: string,
  at: OffsetAt,
  config: ListOffsetsConfig,
  deadline: Deadline,
): Promise<PartitionOffset[]> {
  const metadata = (await readTopics(cluster, [topic], deadline)).get(topic)
  if (metadata?.error) throw metadata.error
  const questions = (metadata?.partitions ?? []).map(({ partition }) => ({ topic, partition, at }))
  const results = await listOffsets(cluster, questions, config, deadline)
  return results.map((result) => only([result]))
}

function topicsOf(jobs: readonly Job<Question>[], leaderEpochOf: (item: Question) => number) {
  return [...byTopic(jobs.map(({ item }) => item))].map(([name, partitions]) => ({
    name,
    partitions: partitions.map((question) => ({
      partitionIndex: question.partition,
      currentLeaderEpoch: leaderEpochOf(question),
      timestamp: timestampOf(question.at),
    })),
  }))
}

function timestampOf(at: OffsetAt): number {
  if (at === 'end') return LATEST
  return at === 'beginning' ? EARLIEST : Math.max(0, at.getTime())
}

function listed(found: {
  readonly offset: number
  readonly timestamp: number
  readonly leaderEpoch: number
}): ListedOffset {
  const orNull = (value: number) => (value < 0 ? null : value)
  return {
    offset: orNull(found.offset),
    timestamp: orNull(found.timestamp),
    leaderEpoch: orNull(found.leaderEpoch),
  }
}
