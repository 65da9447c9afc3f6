// Whether a broker may answer for a partition, and whether the client's idea of the leader epoch is the same (KIP-320).
import { errorCodes } from '../protocol/messages/error-table.js'
import type { Partition } from './topic.js'

/** NONE if the broker leads and the epoch (-1: not said) is the current one. */
export function leaderError(partition: Partition, brokerId: number, currentLeaderEpoch: number): number {
  if (currentLeaderEpoch >= 0) {
    if (currentLeaderEpoch < partition.leaderEpoch) return errorCodes.FENCED_LEADER_EPOCH
    if (currentLeaderEpoch > partition.leaderEpoch) return errorCodes.UNKNOWN_LEADER_EPOCH
  }
  return partition.leaderId === brokerId ? errorCodes.NONE : errorCodes.NOT_LEADER_OR_FOLLOWER
}
