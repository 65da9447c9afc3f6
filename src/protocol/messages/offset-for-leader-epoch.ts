// OffsetForLeaderEpoch: where a leader epoch ended, by which a follower or consumer finds a truncation it missed
// (KIP-101, KIP-320).
import { api, array, int16, int32, int64, string } from '../wire/index.js'

export const OffsetForLeaderEpoch = api({
  name: 'OffsetForLeaderEpoch',
  key: 23,
  versions: '2-4',
  flexible: '4+',
  request: {
    // -1 a consumer, -2 not said (a debugging consumer).
    replicaId: int32.in('3+').default(-2).ignorable(),
    topics: array({
      topic: string,
      partitions: array({
        partition: int32,
        currentLeaderEpoch: int32.default(-1).ignorable(),
        leaderEpoch: int32,
      }),
    }),
  },
  response: {
    throttleTimeMs: int32.ignorable(),
    topics: array({
      topic: string,
      partitions: array({
        errorCode: int16,
        partition: int32,
        leaderEpoch: int32.default(-1).ignorable(),
        endOffset: int64.default(-1),
      }),
    }),
  },
})
