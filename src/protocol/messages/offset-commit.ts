// OffsetCommit: a group's committed offsets. Topics go by name up to version 9 and by id from 10 (KIP-848).
import { api, array, int16, int32, int64, string, uuid } from '../wire/index.js'

export const OffsetCommit = api({
  name: 'OffsetCommit',
  key: 8,
  versions: '2-10',
  flexible: '8+',
  request: {
    groupId: string,
    // -1 with an empty memberId: a commit from outside the group, legal only while it has no members.
    generationIdOrMemberEpoch: int32.default(-1).ignorable(),
    memberId: string.ignorable(),
    groupInstanceId: string.in('7+').nullable('7+').default(null),
    retentionTimeMs: int64.in('2-4').default(-1).ignorable(),
    topics: array({
      name: string.in('0-9').ignorable(),
      topicId: uuid.in('10+').ignorable(),
      partitions: array({
        partitionIndex: int32,
        committedOffset: int64,
        committedLeaderEpoch: int32.in('6+').default(-1).ignorable(),
        committedMetadata: string.nullable(),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32.in('3+').ignorable(),
    topics: array({
      name: string.in('0-9').ignorable(),
      topicId: uuid.in('10+').ignorable(),
      partitions: array({ partitionIndex: int32, errorCode: int16 }),
    }),
  },
})
