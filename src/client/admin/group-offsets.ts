// The committed offsets of a group, seen from outside of it: read, set and deleted.
import { KafkaError } from '../../errors.js'
import { errorByCode, errorCodes, toKafkaError } from '../../protocol/messages/error-table.js'
import { OffsetCommit } from '../../protocol/messages/offset-commit.js'
import { OffsetDelete } from '../../protocol/messages/offset-delete.js'
import { OffsetFetch } from '../../protocol/messages/offset-fetch.js'
import { byTopic, comparePartitions, partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import type { RequestInput, ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import { boolean, integer, option, required, resolveOptions, type Check } from '../../util/options.js'
import type { Cluster } from '../cluster/index.js'
import type { TopicLike } from '../serde/index.js'
import { listOf, partitionSpecs } from './arguments.js'
import { askCoordinator } from './coordinator.js'
import type { AdminResult } from './settle.js'

/** A partition, by the name of its topic or what topic() gives. */
export interface PartitionLike {
  readonly topic: TopicLike
  readonly partition: number
}

export interface ListGroupOffsetsOptions extends WaitOptions {
  /** Only these partitions, whether something is committed for them or not. @default all for which something is committed */
  readonly partitions?: readonly PartitionLike[] | undefined
  /** Whether to wait for transactions that may still change an offset. @default false */
  readonly requireStable?: boolean | undefined
}

export interface GroupOffset {
  /** Of the next record to read; null: nothing is committed. */
  readonly offset: number | null
  /** Of the record before it; null: not known. */
  readonly leaderEpoch: number | null
  /** The text that was committed with it. */
  readonly metadata: string
}

export type GroupOffsetResult = AdminResult<TopicPartition, GroupOffset>

/** An offset to be committed for a group. */
export interface NewGroupOffset extends PartitionLike {
  /** Of the next record to read. */
  readonly offset: number
  /** Of the record before it. @default not known */
  readonly leaderEpoch?: number | undefined
  /** A text to be stored with it. @default '' */
  readonly metadata?: string | undefined
}

export type SetGroupOffsetResult = AdminResult<TopicPartition & { readonly offset: number }>

export type DeleteGroupOffsetResult = AdminResult<TopicPartition>

export const listGroupOffsetsOptions = {
  requireStable: option(boolean, false),
}

const text: Check<string> = (value, fail) => (typeof value === 'string' ? value : fail('a text'))

const newOffsetSpecs = {
  ...partitionSpecs,
  offset: required(integer(0, Number.MAX_SAFE_INTEGER)),
  leaderEpoch: option(integer(-1, 2 ** 31 - 1), -1),
  metadata: option(text, ''),
}

type NewOffset = ReturnType<typeof resolveOptions<typeof newOffsetSpecs>>

export function newGroupOffsets(call: string, given: unknown): NewOffset[] {
  return listOf(call, 'offsets', given, (item, where) => resolveOptions(where, item, newOffsetSpecs), partitionKey)
}

// From version 10 on topics go by id.
const LAST_VERSION_BY_NAME = 9
const FIRST_VERSION_OF_MANY_GROUPS = 8
const FIRST_VERSION_WITH_STABILITY = 7

export async function listGroupOffsets(
  cluster: Cluster,
  group: string,
  {
    partitions,
    requireStable,
  }: { readonly partitions: readonly TopicPartition[] | undefined; readonly requireStable: boolean },
  deadline: Deadline,
): Promise<GroupOffsetResult[]> {
  const what = `reading the committed offsets of group ${group}`
  const topics = partitions && namedTopics(partitions, (indexes) => ({ partitionIndexes: indexes }))
  const request = (version: number): RequestInput<typeof OffsetFetch> => {
    const stable = version < FIRST_VERSION_WITH_STABILITY ? {} : { requireStable }
    return version < FIRST_VERSION_OF_MANY_GROUPS
      ? { groupId: group, topics: topics ?? null, ...stable }
      : { groups: [{ groupId: group, topics: topics ?? null }], ...stable }
  }
  const asked = { what, api: OffsetFetch, request, errorCodesOf: fetchCodes, maxVersion: LAST_VERSION_BY_NAME }
  const response = await askCoordinator(cluster, group, asked, deadline)
  const groupError = response.groups[0]?.errorCode || response.errorCode
  if (groupError !== 0) throw toKafkaError(groupError, { what })
  const found = (response.groups[0]?.topics ?? response.topics).flatMap(({ name: topic, partitions: list }) =>
    list.map((one) => offsetResult(what, topic, one)),
  )
  if (partitions === undefined) return found.sort(comparePartitions)
  const byKey = new Map(found.map((one) => [partitionKey(one), one]))
  return partitions.map((one) => byKey.get(partitionKey(one)) ?? failed(one, leftOut(what)))
}

function* fetchCodes({ errorCode, topics, groups }: ResponseOf<typeof OffsetFetch>): Iterable<number> {
  yield errorCode
  for (const group of groups) yield group.errorCode
  for (const { partitions } of groups[0]?.topics ?? topics) for (const one of partitions) yield one.errorCode
}

interface FetchedOffset {
  readonly partitionIndex: number
  readonly committedOffset: number
  readonly committedLeaderEpoch: number
  readonly metadata: string | null
  readonly errorCode: number
}

function offsetResult(what: string, topic: string, fetched: FetchedOffset): GroupOffsetResult {
  const { partitionIndex: partition, committedOffset, committedLeaderEpoch, metadata, errorCode } = fetched
  if (errorCode !== 0) return failed({ topic, partition }, toKafkaError(errorCode, { what, topic, partition }))
  return {
    topic,
    partition,
    offset: committedOffset < 0 ? null : committedOffset,
    leaderEpoch: committedLeaderEpoch < 0 ? null : committedLeaderEpoch,
    metadata: metadata ?? '',
    error: undefined,
    maybeDone: false,
  }
}

export async function setGroupOffsets(
  cluster: Cluster,
  group: string,
  offsets: readonly NewOffset[],
  deadline: Deadline,
): Promise<SetGroupOffsetResult[]> {
  if (offsets.length === 0) return []
  const what = `setting offsets of group ${group}`
  const request = () => ({
    groupId: group,
    memberId: '',
    topics: [...byTopic(offsets)].map(([name, list]) => ({
      name,
      partitions: list.map(({ partition, offset, leaderEpoch, metadata }) => ({
        partitionIndex: partition,
        committedOffset: offset,
        committedLeaderEpoch: leaderEpoch,
        committedMetadata: metadata,
      })),
    })),
  })
  const asked = { what, api: OffsetCommit, request, errorCodesOf: partitionCodes, maxVersion: LAST_VERSION_BY_NAME }
  const codes = codesByPartition(await askCoordinator(cluster, group, asked, deadline))
  return offsets.map(({ topic, partition, offset }): SetGroupOffsetResult => {
    const error = errorOf(codes.get(partitionKey({ topic, partition })), what, { topic, partition })
    return error === undefined
      ? { topic, partition, offset, error, maybeDone: false }
      : { topic, partition, offset, error, maybeDone: false }
  })
}

export async function deleteGroupOffsets(
  cluster: Cluster,
  group: string,
  partitions: readonly TopicPartition[],
  deadline: Deadline,
): Promise<DeleteGroupOffsetResult[]> {
  if (partitions.length === 0) return []
  const what = `deleting offsets of group ${group}`
  const request = () => ({
    groupId: group,
    topics: namedTopics(partitions, (indexes) => ({
      partitions: indexes.map((partitionIndex) => ({ partitionIndex })),
    })),
  })
  const errorCodesOf = (response: ResponseOf<typeof OffsetDelete>) => [response.errorCode, ...partitionCodes(response)]
  const response = await askCoordinator(cluster, group, { what, api: OffsetDelete, request, errorCodesOf }, deadline)
  const groupError = errorOf(response.errorCode, what)
  if (groupError !== undefined) throw groupError
  const codes = codesByPartition(response)
  return partitions.map(({ topic, partition }): DeleteGroupOffsetResult => {
    const error = errorOf(codes.get(partitionKey({ topic, partition })), what, { topic, partition })
    return error === undefined
      ? { topic, partition, error, maybeDone: false }
      : { topic, partition, error, maybeDone: false }
  })
}

interface PartitionCodes {
  readonly topics: readonly {
    readonly name: string
    readonly partitions: readonly { readonly partitionIndex: number; readonly errorCode: number }[]
  }[]
}

function* partitionCodes({ topics }: PartitionCodes): Iterable<number> {
  for (const { partitions } of topics) for (const { errorCode } of partitions) yield errorCode
}

function codesByPartition({ topics }: PartitionCodes): ReadonlyMap<string, number> {
  const codes = new Map<string, number>()
  for (const { name: topic, partitions } of topics)
    for (const { partitionIndex: partition, errorCode } of partitions)
      codes.set(partitionKey({ topic, partition }), errorCode)
  return codes
}

function namedTopics<Part>(
  partitions: readonly TopicPartition[],
  partOf: (indexes: readonly number[]) => Part,
): ({ readonly name: string } & Part)[] {
  return [...byTopic(partitions)].map(([name, list]) => ({ name, ...partOf(list.map(({ partition }) => partition)) }))
}

/** What the errors of a group in use mean to somebody outside of it (T89). */
const advice = new Map([
  [errorCodes.UNKNOWN_MEMBER_ID, 'the group has members; offsets can be set from outside only when all are closed'],
  [errorCodes.NON_EMPTY_GROUP, 'the group has members, and does not tell which topics they use; close them first'],
  [errorCodes.GROUP_SUBSCRIBED_TO_TOPIC, 'members of the group subscribe to the topic; close them first'],
])

function errorOf(code: number | undefined, what: string, where?: TopicPartition): KafkaError | undefined {
  if (code === 0) return undefined
  if (code === undefined) return leftOut(what)
  const hint = advice.get(code)
  if (hint === undefined) return toKafkaError(code, { what, ...where })
  const { name } = errorByCode(code)
  return new KafkaError(`${what} failed${where ? ` for ${partitionKey(where)}` : ''}: ${name}: ${hint}`, { code: name })
}

function failed({ topic, partition }: TopicPartition, error: KafkaError): GroupOffsetResult {
  return { topic, partition, error, maybeDone: false }
}

function leftOut(what: string): KafkaError {
  return new KafkaError(`${what}: the broker's answer leaves a partition out`, { code: 'MALFORMED_MESSAGE' })
}
