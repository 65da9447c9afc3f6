// What a broker writes into a batch when it appends it: offsets, leader epoch and timestamps, in place. Offset and epoch lie
// outside of the checksum; it is made anew only when something else changes.
import { crc32c } from './crc32c.js'
import {
  attributesAt,
  baseOffsetAt,
  crcAt,
  int64,
  leaderEpochAt,
  logAppendTimeBit,
  maxTimestampAt,
  putInt32,
  putInt64,
} from './layout.js'

export interface AppendTimestamp {
  /** LogAppendTime: the records' time is the broker's, `maxTimestamp`. */
  readonly isLogAppendTime: boolean
  readonly maxTimestamp: number
}

/**
 * Patches one batch, which must have been validated. `timestamp` is left out when the batch keeps its own (which
 * {@link validateBatch} has found to be right, or says what it should be).
 */
export function patchForAppend(
  batch: Buffer,
  baseOffset: number,
  leaderEpoch: number,
  timestamp?: AppendTimestamp,
): void {
  putInt64(batch, baseOffsetAt, baseOffset)
  putInt32(batch, leaderEpochAt, leaderEpoch)
  if (timestamp === undefined) return
  const low = batch[attributesAt + 1]!
  const wanted = timestamp.isLogAppendTime ? low | logAppendTimeBit : low & ~logAppendTimeBit
  if (wanted === low && int64(batch, maxTimestampAt) === timestamp.maxTimestamp) return
  batch[attributesAt + 1] = wanted
  putInt64(batch, maxTimestampAt, timestamp.maxTimestamp)
  putInt32(batch, crcAt, crc32c(batch, attributesAt, batch.length))
}
