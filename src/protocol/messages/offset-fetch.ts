// OffsetFetch: the committed offsets of one group (up to version 7) or several (from 8, KIP-709).
// Null topics ask for all. Topics go by name up to version 9 and by id from 10 (KIP-848).
import { api, array, bool, int16, int32, int64, string, uuid } from '../wire/index.js'

export const OffsetFetch = api({
  name: 'OffsetFetch',
  key: 9,
  versions: '1-10',
  flexible: '6+',
  request: {
    groupId: string.in('0-7'),
    topics: array({ name: string, partitionIndexes: array(int32) })
      .in('0-7')
      .nullable('2-7'),
    groups: array({
      groupId: string,
      memberId: string.in('9+').nullable('9+').default(null).ignorable(),
      memberEpoch: int32.in('9+').default(-1).ignorable(),
      topics: array({
        name: string.in('8-9').ignorable(),
        topicId: uuid.in('10+').ignorable(),
        partitionIndexes: array(int32),
      }).nullable(),
    }).in('8+'),
    // Answer UNSTABLE_OFFSET_COMMIT while a transaction may still change the offset (KIP-447).
    requireStable: bool.in('7+').default(false),
  },
  response: {
    throttleTimeMs: int32.in('3+').ignorable(),
    topics: array({
      name: string,
      partitions: array({
        partitionIndex: int32,
        committedOffset: int64,
        committedLeaderEpoch: int32.in('5-7').default(-1).ignorable(),
        metadata: string.nullable(),
        errorCode: int16,
      }),
    }).in('0-7'),
    errorCode: int16.in('2-7').default(0).ignorable(),
    groups: array({
      groupId: string,
      topics: array({
        name: string.in('8-9').ignorable(),
        topicId: uuid.in('10+').ignorable(),
        partitions: array({
          partitionIndex: int32,
          committedOffset: int64,
          committedLeaderEpoch: int32.default(-1).ignorable(),
          metadata: string.nullable(),
          errorCode: int16,
        }),
      }),
      errorCode: int16.default(0),
    }).in('8+'),
  },
})
