// ListOffsets: a partition's offset at a time. Negative timestamps ask for special offsets: -1 latest, -2 earliest,
// -3 the largest timestamp (7+, KIP-734), -4 earliest local (8+, KIP-405), -5 latest tiered (9+, KIP-1005),
// -6 earliest pending upload (11+, KIP-1023).
import { api, array, int16, int32, int64, int8, string } from '../wire/index.js'

export const ListOffsets = api({
  name: 'ListOffsets',
  key: 2,
  versions: '1-11',
  flexible: '6+',
  request: {
    replicaId: int32,
    isolationLevel: int8.in('2+'),
    topics: array({
      name: string,
      partitions: array({
        partitionIndex: int32,
        currentLeaderEpoch: int32.in('4+').default(-1).ignorable(),
        timestamp: int64,
      }),
    }),
    // How long the broker may look into remote storage (KIP-1075).
    timeoutMs: int32.in('10+').ignorable(),
  },
  response: {
    throttleTimeMs: int32.in('2+').ignorable(),
    topics: array({
      name: string,
      partitions: array({
        partitionIndex: int32,
        errorCode: int16,
        timestamp: int64.default(-1),
        offset: int64.default(-1),
        leaderEpoch: int32.in('4+').default(-1),
      }),
    }),
  },
})
