// Turns places in partitions (beginning, end, a time) into offsets by asking the leaders. Keeps no positions.
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/cluster.js'
import type { StartPosition, TopicPartition } from './positions.js'

export type Isolation = 'read_committed' | 'read_uncommitted'

export interface OffsetQuestion extends TopicPartition {
  readonly at: StartPosition
}

/** What the leader answered. For a time, `timestamp` is that of the record found; -1 otherwise. */
export interface FoundOffset extends TopicPartition {
  readonly offset: number
  readonly leaderEpoch: number
  readonly timestamp: number
}

export class OffsetLookup {
  constructor(_cluster: Cluster, _isolation: Isolation) {}

  /**
   * The offsets of all questions, in their order. 'end' is the end for this isolation: the last stable offset under read_committed.
   * A time after the last record is the end. A number needs no broker and comes back as it is.
   * Errors that may pass are retried until the deadline; throws the first one that does not.
   */
  offsets(_questions: readonly OffsetQuestion[], _deadline: Deadline): Promise<FoundOffset[]> {
    throw new Error('not written yet')
  }

  /** As offsets(), but a time after the last record gives undefined. */
  offsetsAt(_questions: readonly OffsetQuestion[], _deadline: Deadline): Promise<(FoundOffset | undefined)[]> {
    throw new Error('not written yet')
  }
}
