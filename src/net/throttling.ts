// From which version on a throttle time is a request to pause (KIP-219). Before, the broker has already done the waiting itself.
import type { AnyApi } from '../protocol/wire/index.js'

const firstVersions = new Map<number, number>([
  [0, 6], // Produce
  [1, 8], // Fetch
  [2, 3], // ListOffsets
  [3, 6], // Metadata
  [8, 4], // OffsetCommit
  [9, 4], // OffsetFetch
  [10, 2], // FindCoordinator
  [11, 3], // JoinGroup
  [12, 2], // Heartbeat
  [13, 2], // LeaveGroup
  [14, 2], // SyncGroup
  [15, 2], // DescribeGroups
  [16, 2], // ListGroups
  [18, 2], // ApiVersions
  [19, 3], // CreateTopics
  [20, 2], // DeleteTopics
  [21, 1], // DeleteRecords
  [22, 1], // InitProducerId
  [23, 3], // OffsetForLeaderEpoch
  [32, 2], // DescribeConfigs
  [33, 1], // AlterConfigs
  [37, 1], // CreatePartitions
  [42, 1], // DeleteGroups
])

export function shouldPause(api: AnyApi, version: number): boolean {
  return version >= (firstVersions.get(api.key) ?? 0)
}
