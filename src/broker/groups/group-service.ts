// The group coordinator as the broker mounts it: its handlers, what the handle shows of it, and the end of its timers.
import type { ClusterState } from '../cluster-state.js'
import { deleteGroupsHandler } from '../handlers/delete-groups.js'
import { describeGroupsHandler } from '../handlers/describe-groups.js'
import { findCoordinatorHandler } from '../handlers/find-coordinator.js'
import type { Service } from '../handlers/handler.js'
import { heartbeatHandler } from '../handlers/heartbeat.js'
import { joinGroupHandler } from '../handlers/join-group.js'
import { leaveGroupHandler } from '../handlers/leave-group.js'
import { listGroupsHandler } from '../handlers/list-groups.js'
import { offsetCommitHandler } from '../handlers/offset-commit.js'
import { offsetDeleteHandler } from '../handlers/offset-delete.js'
import { offsetFetchHandler } from '../handlers/offset-fetch.js'
import { syncGroupHandler } from '../handlers/sync-group.js'
import { snapshotGroups, type GroupSnapshot } from './group-snapshot.js'
import { Groups } from './groups.js'

export interface GroupService extends Service {
  /** What `kafka.groups()` gives. */
  snapshot(): GroupSnapshot[]
}

/** One for all brokers of a cluster; it follows `coordinatorsChanged` and `topicDeleted`. */
export function groupService(cluster: ClusterState): GroupService {
  const groups = new Groups(cluster)
  return {
    handlers: [
      findCoordinatorHandler,
      joinGroupHandler(groups),
      syncGroupHandler(groups),
      heartbeatHandler(groups),
      leaveGroupHandler(groups),
      offsetCommitHandler(groups),
      offsetFetchHandler(groups),
      offsetDeleteHandler(groups),
      describeGroupsHandler(groups),
      listGroupsHandler(groups),
      deleteGroupsHandler(groups),
    ],
    snapshot: () => snapshotGroups(groups),
    close: () => groups.close(),
  }
}
