// A partition's offset at a time, with the special times of ListOffsets.
import { RecordBatch, RecordCursor } from '../protocol/records/index.js'
import { int64, baseTimestampAt } from '../protocol/records/layout.js'
import type { LoggedBatch } from './log/partition-log.js'
import type { Partition } from './topic.js'

export interface FoundOffset {
  readonly offset: number
  readonly timestamp: number
  readonly leaderEpoch: number
}

export const latest = -1
export const earliest = -2
export const maxTimestamp = -3
export const earliestLocal = -4
const latestTiered = -5
const earliestPendingUpload = -6

const nothing: FoundOffset = { offset: -1, timestamp: -1, leaderEpoch: -1 }

/** `timestamp` is a date or one of the special times; -1 for the offset when there is none. */
export function offsetAt(partition: Partition, timestamp: number): FoundOffset {
  const { log, epochs, leaderEpoch } = partition
  switch (timestamp) {
    case latest:
      return { offset: partition.lastStableOffset, timestamp: -1, leaderEpoch }
    case earliest:
    case earliestLocal:
      return { offset: log.startOffset, timestamp: -1, leaderEpoch: epochs.epochOf(log.startOffset) }
    case latestTiered: // without tiered storage nothing is there
    case earliestPendingUpload:
      return nothing
    case maxTimestamp: {
      const batch = log.batchOfLargestTimestamp()
      let found = nothing
      if (batch)
        for (const record of recordsOf(batch, partition)) if (record.timestamp > found.timestamp) found = record
      return found
    }
    default:
      for (const batch of log.batchesSince(timestamp)) {
        for (const record of recordsOf(batch, partition)) if (record.timestamp >= timestamp) return record
      }
      return nothing
  }
}

/** The records of the batch from the log's start on. */
function* recordsOf({ bytes }: LoggedBatch, { source, log }: Partition): IterableIterator<FoundOffset> {
  const batch = new RecordBatch(bytes, source)
  const { leaderEpoch, maxTimestamp } = batch
  const isLogAppendTime = batch.timestampType === 'LogAppendTime'
  const base = int64(bytes, baseTimestampAt)
  for (const cursor = new RecordCursor(batch); cursor.next();) {
    const { offset } = cursor
    if (offset < log.startOffset) continue
    yield { offset, timestamp: isLogAppendTime ? maxTimestamp : base + cursor.timestampDelta, leaderEpoch }
  }
}
