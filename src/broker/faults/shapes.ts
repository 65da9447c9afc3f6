// Where each API names topics and partitions, and where its answer has room for an error: what lets a fault put one error code at
// the right place of any answer.
import type { ApiName } from '../../protocol/messages/registry.js'

export type Struct = Record<string, unknown>

/** A list of topics in a request or answer, and the list of partitions in each. */
export interface TopicList {
  readonly list: string
  /** The field with the topic's name. */
  readonly name: string
  /** The field with the topic's id, in versions that have it. */
  readonly id?: string
  /** Another field that the answer's entry repeats. */
  readonly also?: string
  /** Absent: the API is about whole topics. */
  readonly partitions?: string
  /** The field with the partition's index; absent: the list is of plain numbers. */
  readonly index?: string
}

export interface Shape {
  readonly request?: TopicList
  readonly answer?: TopicList
  /**
   * take: the topics are taken out of the request and answered as `failed` says; mark: the request is processed (it changes nothing)
   * and `failed` is put over the answer's entries; whole: the answer is `failed` altogether.
   */
  readonly mode: 'take' | 'mark' | 'whole'
  /** The fields of a failed entry beside its name and index. With mode whole: of the answer to `request`. */
  readonly failed: (code: number, request: Struct, version: number) => Struct
  /** The failed answer for a fault that names no topic, where the API has an error of its own for that. */
  readonly top?: (code: number, request: Struct, version: number) => Struct
  /** What is left of the request is processed even if nothing is. */
  readonly keepsRest?: boolean
}

const topLevel = (more: (request: Struct, version: number) => Struct = () => ({})): Shape => ({
  mode: 'whole',
  failed: (errorCode, request, version) => ({ throttleTimeMs: 0, errorCode, ...more(request, version) }),
})

const namedTopics = { list: 'topics', name: 'name' } as const
const namedPartitions = { ...namedTopics, partitions: 'partitions', index: 'partitionIndex' } as const
const onlyError = (errorCode: number): Struct => ({ errorCode })
const withMessage = (errorCode: number): Struct => ({ errorCode, errorMessage: null })
const noBytes = Buffer.alloc(0)

/** An answer with one entry for each of a list in the request. */
function perItem(list: string, answerList: string, entry: (item: unknown, errorCode: number) => Struct): Shape {
  return {
    mode: 'whole',
    failed: (code, request) => ({
      throttleTimeMs: 0,
      [answerList]: (request[list] as unknown[]).map((item) => entry(item, code)),
    }),
  }
}

function resources(answerList: string, more: Struct = {}): Shape {
  const lists = { name: 'resourceName', also: 'resourceType' } as const
  return {
    mode: 'take',
    request: { list: 'resources', ...lists },
    answer: { list: answerList, ...lists },
    failed: (errorCode) => ({ errorCode, errorMessage: null, ...more }),
  }
}

const noCoordinator = { nodeId: -1, host: '', port: -1, errorMessage: null }

export const shapes: Record<ApiName, Shape> = {
  Produce: {
    mode: 'take',
    request: { list: 'topicData', name: 'name', id: 'topicId', partitions: 'partitionData', index: 'index' },
    answer: { list: 'responses', name: 'name', id: 'topicId', partitions: 'partitionResponses', index: 'index' },
    failed: (errorCode) => ({ errorCode, baseOffset: -1 }),
  },
  // Fetch takes its errors inside of the handler, because its partitions may be those of a session.
  Fetch: topLevel(() => ({ responses: [] })),
  ListOffsets: {
    mode: 'mark',
    request: namedPartitions,
    answer: namedPartitions,
    failed: (errorCode) => ({ errorCode, timestamp: -1, offset: -1, leaderEpoch: -1 }),
  },
  Metadata: {
    mode: 'take',
    keepsRest: true,
    request: { ...namedTopics, id: 'topicId' },
    answer: { ...namedTopics, id: 'topicId', partitions: 'partitions', index: 'partitionIndex' },
    failed: onlyError,
  },
  OffsetCommit: {
    mode: 'take',
    request: { ...namedPartitions, id: 'topicId' },
    answer: { ...namedPartitions, id: 'topicId' },
    failed: onlyError,
  },
  OffsetFetch: {
    mode: 'mark',
    request: { ...namedTopics, id: 'topicId', partitions: 'partitionIndexes' },
    answer: { ...namedPartitions, id: 'topicId' },
    failed: (errorCode) => ({ errorCode, committedOffset: -1, metadata: '' }),
    top: offsetFetchFailed,
  },
  FindCoordinator: {
    mode: 'whole',
    failed: (errorCode, request, version) =>
      version < 4
        ? { errorCode, ...noCoordinator }
        : {
            coordinators: (request['coordinatorKeys'] as string[]).map((key) => ({ key, errorCode, ...noCoordinator })),
          },
  },
  JoinGroup: topLevel(({ memberId }, version) => ({
    protocolName: version >= 7 ? null : '',
    leader: '',
    memberId,
    members: [],
  })),
  SyncGroup: topLevel(() => ({ assignment: noBytes })),
  Heartbeat: topLevel(),
  LeaveGroup: topLevel(),
  DescribeGroups: perItem('groups', 'groups', (groupId, errorCode) => ({
    errorCode,
    groupId,
    groupState: '',
    protocolType: '',
    protocolData: '',
    members: [],
  })),
  ListGroups: topLevel(() => ({ groups: [] })),
  DeleteGroups: perItem('groupsNames', 'results', (groupId, errorCode) => ({ groupId, errorCode })),
  OffsetDelete: {
    mode: 'take',
    request: namedPartitions,
    answer: namedPartitions,
    failed: onlyError,
    top: (errorCode) => ({ errorCode, throttleTimeMs: 0, topics: [] }),
  },
  ApiVersions: topLevel(() => ({ apiKeys: [] })),
  CreateTopics: {
    mode: 'take',
    request: namedTopics,
    answer: namedTopics,
    failed: (errorCode) => ({ errorCode, errorMessage: null, configs: null }),
  },
  DeleteTopics: {
    mode: 'take',
    request: { ...namedTopics, id: 'topicId' },
    answer: { list: 'responses', name: 'name', id: 'topicId' },
    failed: withMessage,
  },
  CreatePartitions: {
    mode: 'take',
    request: namedTopics,
    answer: { list: 'results', name: 'name' },
    failed: withMessage,
  },
  DeleteRecords: {
    mode: 'take',
    request: namedPartitions,
    answer: namedPartitions,
    failed: (errorCode) => ({ errorCode, lowWatermark: -1 }),
  },
  InitProducerId: topLevel(() => ({ producerId: -1, producerEpoch: -1 })),
  OffsetForLeaderEpoch: {
    mode: 'mark',
    request: { list: 'topics', name: 'topic', partitions: 'partitions', index: 'partition' },
    answer: { list: 'topics', name: 'topic', partitions: 'partitions', index: 'partition' },
    failed: (errorCode) => ({ errorCode, leaderEpoch: -1, endOffset: -1 }),
  },
  DescribeConfigs: resources('results', { configs: [] }),
  AlterConfigs: resources('responses'),
  IncrementalAlterConfigs: resources('responses'),
  DescribeCluster: topLevel(() => ({ clusterId: '', brokers: [] })),
  DescribeTopicPartitions: {
    mode: 'mark',
    request: namedTopics,
    answer: { ...namedTopics, partitions: 'partitions', index: 'partitionIndex' },
    failed: onlyError,
  },
}

/** Per group from version 8, at the top from 2, per partition before. */
function offsetFetchFailed(errorCode: number, request: Struct, version: number): Struct {
  if (version >= 8) {
    const groups = request['groups'] as { groupId: string }[]
    return { groups: groups.map(({ groupId }) => ({ groupId, topics: [], errorCode })) }
  }
  if (version >= 2) return { topics: [], errorCode }
  const topics = request['topics'] as { name: string; partitionIndexes: number[] }[]
  return {
    topics: topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map((partitionIndex) => ({
        partitionIndex,
        committedOffset: -1,
        metadata: '',
        errorCode,
      })),
    })),
  }
}
