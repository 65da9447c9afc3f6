// Fetch: records from partitions, for consumers and follower replicas. Topics go by name up to version 12, by id from 13 (KIP-516).
// From version 7 in sessions (KIP-227): the broker remembers the partitions, and later requests name only what changed.
import { api, array, int16, int32, int64, int64Max, int8, records, string, struct, uuid } from '../wire/index.js'

export const Fetch = api({
  name: 'Fetch',
  key: 1,
  versions: '4-18',
  flexible: '12+',
  request: {
    clusterId: string.in('12+').nullable('12+').default(null).tagged(0).ignorable(),
    replicaId: int32.in('0-14').default(-1),
    // KIP-903: a follower's id with its epoch, so that a replica from before a restart cannot enter the ISR.
    replicaState: struct({ replicaId: int32.default(-1), replicaEpoch: int64.default(-1) })
      .in('15+')
      .tagged(1),
    maxWaitMs: int32,
    minBytes: int32,
    maxBytes: int32.default(0x7fffffff).ignorable(),
    isolationLevel: int8.default(0).ignorable(),
    sessionId: int32.in('7+').default(0).ignorable(),
    sessionEpoch: int32.in('7+').default(-1).ignorable(),
    topics: array({
      topic: string.in('0-12').ignorable(),
      topicId: uuid.in('13+').ignorable(),
      partitions: array({
        partition: int32,
        currentLeaderEpoch: int32.in('9+').default(-1).ignorable(),
        fetchOffset: int64,
        lastFetchedEpoch: int32.in('12+').default(-1),
        // Sent by followers only.
        logStartOffset: int64.in('5+').default(-1).ignorable(),
        partitionMaxBytes: int32,
        replicaDirectoryId: uuid.in('17+').tagged(0).ignorable(),
        // KIP-1166: the follower's high watermark; the default tells the leader not to wait for a change of it.
        highWatermark: int64.in('18+').default(int64Max).tagged(1).ignorable(),
      }),
    }),
    forgottenTopicsData: array({
      topic: string.in('7-12').ignorable(),
      topicId: uuid.in('13+').ignorable(),
      partitions: array(int32),
    }).in('7+'),
    rackId: string.in('11+').default('').ignorable(),
  },
  response: {
    throttleTimeMs: int32.ignorable(),
    errorCode: int16.in('7+').ignorable(),
    sessionId: int32.in('7+').default(0),
    responses: array({
      topic: string.in('0-12').ignorable(),
      topicId: uuid.in('13+').ignorable(),
      partitions: array({
        partitionIndex: int32,
        errorCode: int16,
        highWatermark: int64,
        lastStableOffset: int64.default(-1).ignorable(),
        logStartOffset: int64.in('5+').default(-1).ignorable(),
        // Where the log of the one who asks has left the leader's (KIP-595).
        divergingEpoch: struct({ epoch: int32.default(-1), endOffset: int64.default(-1) })
          .in('12+')
          .tagged(0),
        currentLeader: struct({ leaderId: int32.default(-1), leaderEpoch: int32.default(-1) })
          .in('12+')
          .tagged(1),
        // Raft followers only: fetch this snapshot first (KIP-630).
        snapshotId: struct({ endOffset: int64.default(-1), epoch: int32.default(-1) })
          .in('12+')
          .tagged(2),
        // Null under read_uncommitted.
        abortedTransactions: array({ producerId: int64, firstOffset: int64 }).nullable().ignorable(),
        preferredReadReplica: int32.in('11+').default(-1),
        records: records.nullable(),
      }),
    }),
    // KIP-951: addresses of the brokers named by currentLeader.
    nodeEndpoints: array({
      nodeId: int32,
      host: string,
      port: int32,
      rack: string.nullable().default(null),
    })
      .in('16+')
      .tagged(0),
  },
})
