// The public Admin: looks after topics, groups and offsets. Validates, delegates and closes; each resource has its own file.
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import type { Option, Resolved } from '../../util/options.js'
import { Cluster, type ClusterEvents } from '../cluster/index.js'
import type { TopicLike } from '../serde/index.js'
import { adminConfig, callOptions, type AdminConfig, type AdminOptions } from './admin-options.js'
import { groupName, groupNames, topicNames, topicPartitions } from './arguments.js'
import { listGroups, listGroupsOptions, type GroupList, type ListGroupsOptions } from './group-list.js'
import {
  deleteGroupOffsets,
  listGroupOffsets,
  listGroupOffsetsOptions,
  newGroupOffsets,
  setGroupOffsets,
  type DeleteGroupOffsetResult,
  type GroupOffsetResult,
  type ListGroupOffsetsOptions,
  type NewGroupOffset,
  type PartitionLike,
  type SetGroupOffsetResult,
} from './group-offsets.js'
import {
  deleteGroups,
  describeGroups,
  type DeleteGroupResult,
  type DescribeGroupResult,
  type GroupDescription,
} from './groups.js'
import {
  checkedOffsetAt,
  listOffsets,
  listOffsetsOptions,
  listTopicOffsets,
  offsetQuestions,
  type ListOffsetsOptions,
  type ListOffsetsResult,
  type OffsetAt,
  type OffsetQuestion,
  type PartitionOffset,
} from './offsets.js'
import { deleteRecords, recordsToDelete, type DeleteRecordsResult, type RecordsToDelete } from './records.js'
import { only } from './settle.js'
import {
  addPartitions,
  createTopics,
  creationOptions,
  newPartitions,
  newTopics,
  type AddPartitionsOptions,
  type AddPartitionsResult,
  type CreatedTopic,
  type CreateTopicResult,
  type CreateTopicsOptions,
  type NewPartitions,
  type NewTopic,
} from './topic-creation.js'
import {
  deleteTopics,
  describeTopics,
  listTopics,
  listTopicsOptions,
  type DeleteTopicResult,
  type DescribeTopicResult,
  type ListTopicsOptions,
  type TopicDescription,
  type TopicListing,
} from './topics.js'

export type AdminEvents = ClusterEvents

/**
 * Looks after topics, groups and offsets.
 *
 * Calls on many items (`createTopics`, `describeGroups`, …) resolve to one result per item, in the order given: `error` is undefined where
 * it went well. Calls on one item (`createTopic`, `describeGroup`, …) throw that error. Errors that pass (a leader or controller that moves,
 * a quota, a lost connection) are retried until the call's deadline; then the item's error is TIMEOUT, with the last failure as its cause.
 *
 * Every call takes `{ signal, timeoutMs }` and may reject with INVALID_OPTION (naming what is wrong), ABORTED, CLOSED, or TIMEOUT when no
 * broker could be reached.
 *
 * @example
 * await using admin = new Admin({ brokers: ['localhost:9092'] })
 * await admin.createTopic({ topic: 'orders', partitions: 6 })
 * for (const { topic, error } of await admin.deleteTopics(['a', 'b'])) if (error) console.log(topic, error.code)
 */
export class Admin {
  readonly #config: AdminConfig
  readonly #cluster: Cluster
  #closing: Promise<void> | undefined

  /** @throws {UsageError} INVALID_OPTION, naming the option */
  constructor(options: AdminOptions) {
    this.#config = adminConfig(options)
    this.#cluster = new Cluster(this.#config, 'Admin')
  }

  /** Reaches the cluster; every call does it otherwise. */
  async connect(options: WaitOptions = {}): Promise<void> {
    await this.#begin('connect', options, {})
  }

  /** Ends what is still running with CLOSED and closes the connections. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#cluster.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Calls the listener at each event of its connections and retries: see {@link ClusterEvents}. */
  on<Name extends keyof AdminEvents>(name: Name, listener: (event: AdminEvents[Name]) => unknown): this {
    this.#cluster.events.on(name, listener)
    return this
  }

  once<Name extends keyof AdminEvents>(name: Name, listener: (event: AdminEvents[Name]) => unknown): this {
    this.#cluster.events.once(name, listener)
    return this
  }

  off<Name extends keyof AdminEvents>(name: Name, listener: (event: AdminEvents[Name]) => unknown): this {
    this.#cluster.events.off(name, listener)
    return this
  }

  // ---- topics

  /**
   * Creates topics, each given by its name, by what topic() gives, or as a {@link NewTopic}, and waits until they can be used: until each of their partitions has a leader.
   * Errors of items: TOPIC_ALREADY_EXISTS (see `maybeDone`), INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_CONFIG,
   * INVALID_REPLICA_ASSIGNMENT, INVALID_TOPIC_EXCEPTION, POLICY_VIOLATION, TOPIC_AUTHORIZATION_FAILED, …
   */
  async createTopics(
    topics: readonly (TopicLike | NewTopic)[],
    options: CreateTopicsOptions = {},
  ): Promise<CreateTopicResult[]> {
    const given = newTopics('createTopics', topics)
    const { config, deadline } = await this.#begin('createTopics', options, creationOptions)
    return createTopics(this.#cluster, given, config, deadline)
  }

  /** Creates one topic; throws as {@link Admin.createTopics} tells. */
  async createTopic(
    topic: TopicLike | NewTopic,
    options: CreateTopicsOptions = {},
  ): Promise<{ readonly topic: string } & CreatedTopic> {
    const given = newTopics('createTopic', [topic])
    const { config, deadline } = await this.#begin('createTopic', options, creationOptions)
    return only(await createTopics(this.#cluster, given, config, deadline))
  }

  /**
   * Deletes topics with all their records, and waits until brokers no longer tell of them.
   * Errors of items: UNKNOWN_TOPIC_OR_PARTITION (see `maybeDone`), TOPIC_DELETION_DISABLED, TOPIC_AUTHORIZATION_FAILED, …
   */
  async deleteTopics(topics: readonly TopicLike[], options: WaitOptions = {}): Promise<DeleteTopicResult[]> {
    const given = topicNames('deleteTopics', topics)
    const { deadline } = await this.#begin('deleteTopics', options, {})
    return deleteTopics(this.#cluster, given, deadline)
  }

  /** Deletes one topic; throws as {@link Admin.deleteTopics} tells. */
  async deleteTopic(topic: TopicLike, options: WaitOptions = {}): Promise<void> {
    const given = topicNames('deleteTopic', [topic])
    const { deadline } = await this.#begin('deleteTopic', options, {})
    only(await deleteTopics(this.#cluster, given, deadline))
  }

  /** All topics that may be seen, by name. */
  async listTopics(options: ListTopicsOptions = {}): Promise<TopicListing[]> {
    const { config, deadline } = await this.#begin('listTopics', options, listTopicsOptions)
    return listTopics(this.#cluster, config, deadline)
  }

  /**
   * The partitions of topics, with leaders and replicas. Never creates a topic.
   * Errors of items: UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED.
   */
  async describeTopics(topics: readonly TopicLike[], options: WaitOptions = {}): Promise<DescribeTopicResult[]> {
    const given = topicNames('describeTopics', topics)
    const { deadline } = await this.#begin('describeTopics', options, {})
    return describeTopics(this.#cluster, given, deadline)
  }

  /** Describes one topic; throws as {@link Admin.describeTopics} tells. */
  async describeTopic(
    topic: TopicLike,
    options: WaitOptions = {},
  ): Promise<{ readonly topic: string } & TopicDescription> {
    const given = topicNames('describeTopic', [topic])
    const { deadline } = await this.#begin('describeTopic', options, {})
    return only(await describeTopics(this.#cluster, given, deadline))
  }

  /**
   * Gives topics more partitions (never fewer), and waits until each has a leader. Records with a key go to other partitions from then on.
   * Given a list, resolves to a result per topic; given one, throws its error.
   * Errors of items: INVALID_PARTITIONS (the topic has as many already, or more; see `maybeDone`), UNKNOWN_TOPIC_OR_PARTITION,
   * INVALID_REPLICA_ASSIGNMENT, TOPIC_AUTHORIZATION_FAILED, …
   */
  addPartitions(topics: readonly NewPartitions[], options?: AddPartitionsOptions): Promise<AddPartitionsResult[]>
  addPartitions(topic: NewPartitions, options?: AddPartitionsOptions): Promise<void>
  async addPartitions(
    topics: NewPartitions | readonly NewPartitions[],
    options: AddPartitionsOptions = {},
  ): Promise<AddPartitionsResult[] | void> {
    const given = newPartitions('addPartitions', listed(topics))
    const { config, deadline } = await this.#begin('addPartitions', options, creationOptions)
    const results = await addPartitions(this.#cluster, given, config, deadline)
    if (Array.isArray(topics)) return results
    only(results)
  }

  // ---- records and offsets

  /**
   * Deletes the records at the beginning of partitions. Given a list, resolves to a result per partition; given one, throws its error.
   * Errors of items: OFFSET_OUT_OF_RANGE (beyond the end), POLICY_VIOLATION (the topic is compacted), UNKNOWN_TOPIC_OR_PARTITION,
   * TOPIC_AUTHORIZATION_FAILED.
   */
  deleteRecords(partitions: readonly RecordsToDelete[], options?: WaitOptions): Promise<DeleteRecordsResult[]>
  deleteRecords(partition: RecordsToDelete, options?: WaitOptions): Promise<{ readonly lowWatermark: number }>
  async deleteRecords(
    partitions: RecordsToDelete | readonly RecordsToDelete[],
    options: WaitOptions = {},
  ): Promise<DeleteRecordsResult[] | { readonly lowWatermark: number }> {
    const given = recordsToDelete('deleteRecords', listed(partitions))
    const { deadline } = await this.#begin('deleteRecords', options, {})
    const results = await deleteRecords(this.#cluster, given, deadline)
    return Array.isArray(partitions) ? results : only(results)
  }

  /**
   * The offsets of places in partitions, asked of the leaders now: of every partition of a topic (throws the first error), or of what a
   * list asks for (a result each; the same partition may be asked about several times).
   * Errors of items: UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED.
   *
   * @example
   * const ends = await admin.listOffsets('orders', 'end')
   */
  listOffsets(questions: readonly OffsetQuestion[], options?: ListOffsetsOptions): Promise<ListOffsetsResult[]>
  listOffsets(topic: TopicLike, at: OffsetAt, options?: ListOffsetsOptions): Promise<PartitionOffset[]>
  async listOffsets(
    asked: TopicLike | readonly OffsetQuestion[],
    second: OffsetAt | ListOffsetsOptions = {},
    third: ListOffsetsOptions = {},
  ): Promise<ListOffsetsResult[] | PartitionOffset[]> {
    if (Array.isArray(asked)) {
      const given = offsetQuestions('listOffsets', asked)
      const { config, deadline } = await this.#begin('listOffsets', second, listOffsetsOptions)
      return listOffsets(this.#cluster, given, config, deadline)
    }
    const [topic = ''] = topicNames('listOffsets', [asked])
    const at = checkedOffsetAt('listOffsets', second)
    const { config, deadline } = await this.#begin('listOffsets', third, listOffsetsOptions)
    return listTopicOffsets(this.#cluster, topic, at, config, deadline)
  }

  // ---- groups

  /** All groups, of all brokers. What a broker could not tell is in `unlisted`; the rest is there nevertheless. */
  async listGroups(options: ListGroupsOptions = {}): Promise<GroupList> {
    const { config, deadline } = await this.#begin('listGroups', options, listGroupsOptions)
    return listGroups(this.#cluster, config, deadline)
  }

  /**
   * State and members of groups. Errors of items: GROUP_ID_NOT_FOUND, GROUP_AUTHORIZATION_FAILED, NOT_SUPPORTED (a group that is not a
   * classic one).
   */
  async describeGroups(groups: readonly string[], options: WaitOptions = {}): Promise<DescribeGroupResult[]> {
    const given = groupNames('describeGroups', groups)
    const { deadline } = await this.#begin('describeGroups', options, {})
    return describeGroups(this.#cluster, given, deadline)
  }

  /** Describes one group; throws as {@link Admin.describeGroups} tells. */
  async describeGroup(
    group: string,
    options: WaitOptions = {},
  ): Promise<{ readonly group: string } & GroupDescription> {
    const name = groupName('describeGroup', group)
    const { deadline } = await this.#begin('describeGroup', options, {})
    return only(await describeGroups(this.#cluster, [name], deadline))
  }

  /**
   * Deletes groups that have no members, with their committed offsets. Errors of items: NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND (see
   * `maybeDone`), GROUP_AUTHORIZATION_FAILED.
   */
  async deleteGroups(groups: readonly string[], options: WaitOptions = {}): Promise<DeleteGroupResult[]> {
    const given = groupNames('deleteGroups', groups)
    const { deadline } = await this.#begin('deleteGroups', options, {})
    return deleteGroups(this.#cluster, given, deadline)
  }

  /** Deletes one group; throws as {@link Admin.deleteGroups} tells. */
  async deleteGroup(group: string, options: WaitOptions = {}): Promise<void> {
    const name = groupName('deleteGroup', group)
    const { deadline } = await this.#begin('deleteGroup', options, {})
    only(await deleteGroups(this.#cluster, [name], deadline))
  }

  /**
   * What a group has committed, a result per partition; nothing for a group that does not exist.
   * @throws {KafkaError} what concerns the whole group: GROUP_AUTHORIZATION_FAILED
   */
  async listGroupOffsets(group: string, options: ListGroupOffsetsOptions = {}): Promise<GroupOffsetResult[]> {
    const name = groupName('listGroupOffsets', group)
    const { partitions, ...others } = options
    const chosen = partitions && topicPartitions('listGroupOffsets', partitions)
    const { config, deadline } = await this.#begin('listGroupOffsets', others, listGroupOffsetsOptions)
    return listGroupOffsets(this.#cluster, name, { ...config, partitions: chosen }, deadline)
  }

  /**
   * Commits offsets for a group from outside, a result per partition. The group must have no members, and is created if need be.
   * Errors of items: UNKNOWN_MEMBER_ID (the group has members), UNKNOWN_TOPIC_OR_PARTITION, OFFSET_METADATA_TOO_LARGE,
   * GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED.
   */
  async setGroupOffsets(
    group: string,
    offsets: readonly NewGroupOffset[],
    options: WaitOptions = {},
  ): Promise<SetGroupOffsetResult[]> {
    const name = groupName('setGroupOffsets', group)
    const given = newGroupOffsets('setGroupOffsets', offsets)
    const { deadline } = await this.#begin('setGroupOffsets', options, {})
    return setGroupOffsets(this.#cluster, name, given, deadline)
  }

  /**
   * Deletes committed offsets of topics that the group does not subscribe to at the moment, a result per partition. Errors of items:
   * GROUP_SUBSCRIBED_TO_TOPIC, UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED.
   * @throws {KafkaError} what concerns the whole group: GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP (its members are no consumers),
   * GROUP_AUTHORIZATION_FAILED
   */
  async deleteGroupOffsets(
    group: string,
    partitions: readonly PartitionLike[],
    options: WaitOptions = {},
  ): Promise<DeleteGroupOffsetResult[]> {
    const name = groupName('deleteGroupOffsets', group)
    const given = topicPartitions('deleteGroupOffsets', partitions)
    const { deadline } = await this.#begin('deleteGroupOffsets', options, {})
    return deleteGroupOffsets(this.#cluster, name, given, deadline)
  }

  // ---- inside

  async #begin<Specs extends Record<string, Option<unknown>>>(
    call: string,
    given: unknown,
    specs: Specs,
  ): Promise<{ readonly config: Resolved<Specs>; readonly deadline: Deadline }> {
    const { signal, timeoutMs = this.#config.timeoutMs, ...config } = callOptions(call, given, specs)
    const deadline = this.#cluster.deadline(timeoutMs, signal)
    await this.#cluster.connect(deadline)
    return { config: config as unknown as Resolved<Specs>, deadline }
  }
}

function listed<T>(given: T | readonly T[]): readonly T[] {
  return Array.isArray(given) ? (given as readonly T[]) : [given as T]
}
