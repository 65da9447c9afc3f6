// Metadata: the brokers of the cluster, and topics with their partitions and leaders.
// Asking for all topics is an empty list in version 0 and null from version 1, where an empty list asks for none.
import { api, array, bool, int16, int32, string, uuid } from '../wire/index.js'

/** What an authorized-operations field holds when it was not asked for. */
export const noAuthorizedOperations = -2147483648

export const Metadata = api({
  name: 'Metadata',
  key: 3,
  versions: '0-13',
  flexible: '9+',
  request: {
    topics: array({
      topicId: uuid.in('10+').ignorable(),
      name: string.nullable('10+'),
    }).nullable('1+'),
    allowAutoTopicCreation: bool.in('4+').default(true),
    includeClusterAuthorizedOperations: bool.in('8-10'),
    includeTopicAuthorizedOperations: bool.in('8+'),
  },
  response: {
    throttleTimeMs: int32.in('3+').ignorable(),
    brokers: array({
      nodeId: int32,
      host: string,
      port: int32,
      rack: string.in('1+').nullable('1+').default(null).ignorable(),
    }),
    clusterId: string.in('2+').nullable('2+').default(null).ignorable(),
    controllerId: int32.in('1+').default(-1).ignorable(),
    topics: array({
      errorCode: int16,
      name: string.nullable('12+'),
      topicId: uuid.in('10+').ignorable(),
      isInternal: bool.in('1+').ignorable(),
      partitions: array({
        errorCode: int16,
        partitionIndex: int32,
        leaderId: int32,
        leaderEpoch: int32.in('7+').default(-1).ignorable(),
        replicaNodes: array(int32),
        isrNodes: array(int32),
        offlineReplicas: array(int32).in('5+').ignorable(),
      }),
      topicAuthorizedOperations: int32.in('8+').default(noAuthorizedOperations),
    }),
    clusterAuthorizedOperations: int32.in('8-10').default(noAuthorizedOperations),
    // REBOOTSTRAP_REQUIRED (KIP-1102).
    errorCode: int16.in('13+').ignorable(),
  },
})
