// Produce: record batches for partitions. Topics go by name up to version 12 and by id from 13 (KIP-516).
// Versions 0-2 are gone (message formats 0 and 1), yet brokers list them in ApiVersions, for older librdkafka (KAFKA-18659).
import { api, array, int16, int32, int64, records, string, struct, uuid } from '../wire/index.js'

export const Produce = api({
  name: 'Produce',
  key: 0,
  versions: '3-13',
  flexible: '9+',
  request: {
    transactionalId: string.nullable().default(null),
    acks: int16,
    timeoutMs: int32,
    topicData: array({
      name: string.in('0-12').ignorable(),
      topicId: uuid.in('13+').ignorable(),
      partitionData: array({ index: int32, records: records.nullable() }),
    }),
  },
  response: {
    responses: array({
      name: string.in('0-12').ignorable(),
      topicId: uuid.in('13+').ignorable(),
      partitionResponses: array({
        index: int32,
        errorCode: int16,
        baseOffset: int64,
        logAppendTimeMs: int64.default(-1).ignorable(),
        logStartOffset: int64.in('5+').default(-1).ignorable(),
        // KIP-467: the records for whose sake the whole batch was refused.
        recordErrors: array({
          batchIndex: int32,
          batchIndexErrorMessage: string.nullable().default(null),
        })
          .in('8+')
          .ignorable(),
        errorMessage: string.in('8+').nullable('8+').default(null).ignorable(),
        // KIP-951: with NOT_LEADER_OR_FOLLOWER, who leads now; its address is in nodeEndpoints.
        currentLeader: struct({ leaderId: int32.default(-1), leaderEpoch: int32.default(-1) })
          .in('10+')
          .tagged(0),
      }),
    }),
    throttleTimeMs: int32.default(0).ignorable(),
    nodeEndpoints: array({
      nodeId: int32,
      host: string,
      port: int32,
      rack: string.nullable().default(null),
    })
      .in('10+')
      .tagged(0),
  },
})
