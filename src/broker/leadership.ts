// Whether a broker may answer for a partition, and whether the client's idea of the leader epoch is the same (KIP-320).
import { errorCodes } from '../protocol/messages/error-table.js'
import type { Partition } from './topic.js'

/** NONE if the broker leads and the epoch (-1: not said) is the current one. */
export function leaderError(partition: Partition, brokerId: number, currentLeaderEpoch: number): number {
  // With one replica only the leader hosts the partition, and another broker knows nothing of its epoch.
  if (partition.leaderId !== brokerId) return errorCodes.NOT_LEADER_OR_FOLLOWER
  if (currentLeaderEpoch < 0 || currentLeaderEpoch === partition.leaderEpoch) return errorCodes.NONE
  return currentLeaderEpoch < partition.leaderEpoch ? errorCodes.FENCED_LEADER_EPOCH : errorCodes.UNKNOWN_LEADER_EPOCH
}
