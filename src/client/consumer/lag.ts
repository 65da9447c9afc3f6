// How far a feed's positions are from the ends of their partitions.
import type { Deadline } from '../../util/deadline.js'
import type { OffsetLookup } from './offset-lookup.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'
import type { RecordFeed } from './record-feed.js'

export interface PartitionLag extends TopicPartition {
  /** Of the next record. */
  readonly position: number
  /** Behind the last record that can be read under the reader's isolation. */
  readonly end: number
  readonly lag: number
}

export async function lagOf(feed: RecordFeed, lookup: OffsetLookup, deadline: Deadline): Promise<PartitionLag[]> {
  await feed.positioned(deadline)
  const questions = feed.partitions().map((partition) => ({ ...partition, at: 'end' as const }))
  const ends = await lookup.offsets(questions, deadline)
  return ends.flatMap(({ topic, partition, offset: end }): PartitionLag[] => {
    const position = feed.position({ topic, partition })?.offset
    return position === undefined ? [] : [{ topic, partition, position, end, lag: Math.max(0, end - position) }]
  })
}
