// CreateTopics. -1 partitions or replicas take the broker's default (KIP-464); assignments, when given, replace both numbers.
import { api, array, bool, int16, int32, int8, string, uuid } from '../wire/index.js'

export const CreateTopics = api({
  name: 'CreateTopics',
  key: 19,
  versions: '2-7',
  flexible: '5+',
  request: {
    topics: array({
      name: string,
      numPartitions: int32,
      replicationFactor: int16,
      assignments: array({ partitionIndex: int32, brokerIds: array(int32) }),
      configs: array({ name: string, value: string.nullable() }),
    }),
    timeoutMs: int32.default(60000),
    validateOnly: bool.default(false),
  },
  response: {
    throttleTimeMs: int32.ignorable(),
    topics: array({
      name: string,
      topicId: uuid.in('7+').ignorable(),
      errorCode: int16,
      errorMessage: string.nullable().ignorable(),
      // KIP-525: why the configs below are missing, when they may not be seen.
      topicConfigErrorCode: int16.in('5+').tagged(0).ignorable(),
      numPartitions: int32.in('5+').default(-1).ignorable(),
      replicationFactor: int16.in('5+').default(-1).ignorable(),
      configs: array({
        name: string,
        value: string.nullable(),
        readOnly: bool,
        configSource: int8.default(-1).ignorable(),
        isSensitive: bool,
      })
        .in('5+')
        .nullable('5+')
        .ignorable(),
    }),
  },
})
