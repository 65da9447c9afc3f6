// DescribeTopicPartitions: like Metadata for topics, but in pages: nextCursor is where the next request goes on (KIP-966).
import { api, array, bool, int16, int32, string, struct, uuid } from '../wire/index.js'
import { noAuthorizedOperations } from './metadata.js'

const cursor = struct({ topicName: string, partitionIndex: int32 }).nullable().default(null)

export const DescribeTopicPartitions = api({
  name: 'DescribeTopicPartitions',
  key: 75,
  versions: '0',
  flexible: '0+',
  request: {
    topics: array({ name: string }),
    responsePartitionLimit: int32.default(2000),
    cursor,
  },
  response: {
    throttleTimeMs: int32.ignorable(),
    topics: array({
      errorCode: int16,
      name: string.nullable(),
      topicId: uuid.ignorable(),
      isInternal: bool.default(false).ignorable(),
      partitions: array({
        errorCode: int16,
        partitionIndex: int32,
        leaderId: int32,
        leaderEpoch: int32.default(-1).ignorable(),
        replicaNodes: array(int32),
        isrNodes: array(int32),
        eligibleLeaderReplicas: array(int32).nullable().default(null),
        lastKnownElr: array(int32).nullable().default(null),
        offlineReplicas: array(int32).ignorable(),
      }),
      topicAuthorizedOperations: int32.default(noAuthorizedOperations),
    }),
    nextCursor: cursor,
  },
})
