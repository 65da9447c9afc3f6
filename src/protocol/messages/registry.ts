// Every declared API, by key and by name, for the places that do not know beforehand which one they hold:
// the broker's dispatch, the request log, fault rules, check:protocol.
import { AlterConfigs } from './alter-configs.js'
import { ApiVersions } from './api-versions.js'
import { CreatePartitions } from './create-partitions.js'
import { CreateTopics } from './create-topics.js'
import { DeleteGroups } from './delete-groups.js'
import { DeleteRecords } from './delete-records.js'
import { DeleteTopics } from './delete-topics.js'
import { DescribeCluster } from './describe-cluster.js'
import { DescribeConfigs } from './describe-configs.js'
import { DescribeGroups } from './describe-groups.js'
import { DescribeTopicPartitions } from './describe-topic-partitions.js'
import { Fetch } from './fetch.js'
import { FindCoordinator } from './find-coordinator.js'
import { Heartbeat } from './heartbeat.js'
import { IncrementalAlterConfigs } from './incremental-alter-configs.js'
import { InitProducerId } from './init-producer-id.js'
import { JoinGroup } from './join-group.js'
import { LeaveGroup } from './leave-group.js'
import { ListGroups } from './list-groups.js'
import { ListOffsets } from './list-offsets.js'
import { Metadata } from './metadata.js'
import { OffsetCommit } from './offset-commit.js'
import { OffsetDelete } from './offset-delete.js'
import { OffsetFetch } from './offset-fetch.js'
import { OffsetForLeaderEpoch } from './offset-for-leader-epoch.js'
import { Produce } from './produce.js'
import { SyncGroup } from './sync-group.js'

/** All declared APIs by name. */
export const apis = {
  Produce,
  Fetch,
  ListOffsets,
  Metadata,
  OffsetCommit,
  OffsetFetch,
  FindCoordinator,
  JoinGroup,
  Heartbeat,
  LeaveGroup,
  SyncGroup,
  DescribeGroups,
  ListGroups,
  ApiVersions,
  CreateTopics,
  DeleteTopics,
  DeleteRecords,
  InitProducerId,
  OffsetForLeaderEpoch,
  DescribeConfigs,
  AlterConfigs,
  CreatePartitions,
  DeleteGroups,
  IncrementalAlterConfigs,
  OffsetDelete,
  DescribeCluster,
  DescribeTopicPartitions,
} as const

export type ApiName = keyof typeof apis
export type AnyApi = (typeof apis)[ApiName]

/** All declared APIs by key. */
export const apisByKey: ReadonlyMap<number, AnyApi> = new Map(Object.values(apis).map((api) => [api.key, api]))
