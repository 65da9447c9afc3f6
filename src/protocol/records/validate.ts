// What a broker checks of the bytes a producer sent before it appends them (B12), in the order and with the error codes of
// Apache Kafka. All or nothing: one bad record refuses the batch. Changes nothing.
import type { RecordError } from '../../errors.js'
import {
  baseTimestampAt,
  batchHeaderSize,
  batchLengthAt,
  int32,
  int64,
  lengthOverhead,
  magicAt,
  noTimestamp,
  producerIdAt,
} from './layout.js'
import { RecordBatch, type RecordSource } from './record-batch.js'
import { RecordCursor } from './record-cursor.js'

export interface BatchRules {
  /** max.message.bytes: of the batch as it was sent. */
  readonly maxMessageBytes: number
  /** cleanup.policy contains compact: every record needs a key. */
  readonly isCompacted: boolean
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  /** message.timestamp.before.max.ms and message.timestamp.after.max.ms; Infinity for no limit. */
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  readonly nowMs: number
  /** What may come out of a compressed batch. @default 128 MiB */
  readonly maxDecompressedBytes?: number | undefined
}

export interface BadRecord {
  readonly batchIndex: number
  readonly message: string
}

export interface ValidBatch {
  readonly ok: true
  readonly batch: RecordBatch
  /** Of its records, -1 if none has a timestamp; the header's may be wrong. */
  readonly maxTimestamp: number
  readonly offsetDeltaOfMaxTimestamp: number
  /** False if the offsets inside do not count from 0 one by one: then it has to be {@link rewriteBatch written anew}. */
  readonly isSequential: boolean
}

export interface InvalidBatch {
  readonly ok: false
  readonly code:
    'CORRUPT_MESSAGE' | 'INVALID_RECORD' | 'INVALID_TIMESTAMP' | 'MESSAGE_TOO_LARGE' | 'UNSUPPORTED_COMPRESSION_TYPE'
  readonly message: string
  /** Which records are bad, where it is records. */
  readonly records: readonly BadRecord[]
}

/** Kafka lists no more than the first few bad records in its message; the list itself is whole. */
const namedRecords = 3

/** Checks the one batch that a Produce request may hold for a partition. */
export function validateBatch(bytes: Buffer | null, where: RecordSource, rules: BatchRules): ValidBatch | InvalidBatch {
  const partition = `${where.topic}-${where.partition}`
  if (bytes === null || bytes.length === 0) {
    return invalid('INVALID_RECORD', `a produce request must hold at least one record batch for ${partition}`)
  }
  // What ends early is no batch at all to Kafka, which looks at the lengths and the magic first.
  if (bytes.length <= magicAt) {
    return invalid('INVALID_RECORD', `a batch for ${partition} has only ${bytes.length} bytes`)
  }
  const size = int32(bytes, batchLengthAt) + lengthOverhead
  const magic = bytes[magicAt]!
  if (magic > 2) return invalid('CORRUPT_MESSAGE', `a batch for ${partition} has the unknown magic ${magic}`)
  if (magic < 2) return invalid('INVALID_RECORD', `a batch for ${partition} has magic ${magic}, only 2 is allowed`)
  if (size < batchHeaderSize) return invalid('CORRUPT_MESSAGE', `a batch for ${partition} has length ${size}`)
  if (size > bytes.length) {
    return invalid('INVALID_RECORD', `a batch for ${partition} of ${size} bytes has only ${bytes.length}`)
  }
  if (size < bytes.length)
    return invalid('INVALID_RECORD', `a produce request may hold only one record batch for ${partition}`)
  return validateWhole(new RecordBatch(bytes, where), partition, rules)
}

function validateWhole(batch: RecordBatch, partition: string, rules: BatchRules): ValidBatch | InvalidBatch {
  const { baseOffset, lastOffsetDelta, recordCount, codecId } = batch
  if (codecId > 4) {
    return invalid('UNSUPPORTED_COMPRESSION_TYPE', `no codec has the id ${codecId} (in a batch for ${partition})`)
  }
  if (baseOffset !== 0) {
    return invalid('INVALID_RECORD', `the base offset of a batch for ${partition} must be 0, got ${baseOffset}`)
  }
  if (batch.sizeInBytes > rules.maxMessageBytes) {
    return invalid(
      'MESSAGE_TOO_LARGE',
      `the batch of ${batch.sizeInBytes} bytes for ${partition} is larger than max.message.bytes, ${rules.maxMessageBytes}`,
    )
  }
  if (!batch.isCrcValid()) return invalid('CORRUPT_MESSAGE', `the CRC of a batch for ${partition} does not match`)
  if (lastOffsetDelta < 0) {
    return invalid('INVALID_RECORD', `a batch for ${partition} has the last offset ${lastOffsetDelta}`)
  }
  if (recordCount <= 0) return invalid('INVALID_RECORD', `a batch for ${partition} has ${recordCount} records`)
  if (recordCount !== lastOffsetDelta + 1) {
    return invalid(
      'INVALID_RECORD',
      `a batch for ${partition} has ${recordCount} records and the last offset ${lastOffsetDelta}`,
    )
  }
  if (batch.isControl) return invalid('INVALID_RECORD', `clients may not write control records (to ${partition})`)
  if (int64(batch.bytes, producerIdAt) > -1 && batch.baseSequence < 0) {
    return invalid(
      'INVALID_RECORD',
      `a batch for ${partition} with a producer id has the sequence ${batch.baseSequence}`,
    )
  }
  try {
    return validateRecords(batch, partition, rules)
  } catch (error) {
    // A cursor throws nothing else: the bytes hold no records, or those of a codec cannot be decompressed.
    const { code, message, cause } = error as RecordError
    if (code === 'CORRUPT_MESSAGE') return invalid(cause === undefined ? 'INVALID_RECORD' : 'CORRUPT_MESSAGE', message)
    throw error
  }
}

function validateRecords(batch: RecordBatch, partition: string, rules: BatchRules): ValidBatch | InvalidBatch {
  const { isCompacted, nowMs } = rules
  const earliest = nowMs - rules.timestampBeforeMaxMs
  const latest = nowMs + rules.timestampAfterMaxMs
  const checksTimestamps = rules.timestampType === 'CreateTime'
  const claimsLogAppendTime = batch.timestampType === 'LogAppendTime'
  const baseTimestamp = int64(batch.bytes, baseTimestampAt)
  const bad: BadRecord[] = []
  let hasBadTimestamp = false
  let maxTimestamp = noTimestamp
  let offsetDeltaOfMaxTimestamp = -1
  let isSequential = true
  let index = 0
  for (const cursor = new RecordCursor(batch, rules.maxDecompressedBytes); cursor.next(); index++) {
    if (cursor.offsetDelta !== index) isSequential = false
    const timestamp = claimsLogAppendTime ? batch.maxTimestamp : baseTimestamp + cursor.timestampDelta
    if (isCompacted && cursor.keyLength < 0) {
      bad.push({
        batchIndex: index,
        message: `a record without key is not allowed in the compacted topic of ${partition}`,
      })
    } else if (checksTimestamps && timestamp !== noTimestamp) {
      // Written so that a timestamp beyond what a number holds is out of range too.
      if (!(timestamp >= earliest && timestamp <= latest && Number.isSafeInteger(timestamp))) {
        hasBadTimestamp = true
        const message = `the timestamp ${timestamp} is out of range, it must be within ${earliest} and ${latest}`
        bad.push({ batchIndex: index, message })
      }
    } else if (claimsLogAppendTime) {
      hasBadTimestamp = true
      bad.push({ batchIndex: index, message: 'a producer may not set the timestamp type to LogAppendTime' })
    }
    if (timestamp > maxTimestamp) {
      maxTimestamp = timestamp
      offsetDeltaOfMaxTimestamp = index
    }
  }
  if (bad.length === 0) return { ok: true, batch, maxTimestamp, offsetDeltaOfMaxTimestamp, isSequential }
  const shown = bad.slice(0, namedRecords).map(({ batchIndex, message }) => `${batchIndex}: ${message}`)
  const more = bad.length > namedRecords ? ', …' : ''
  return {
    ...invalid(
      hasBadTimestamp ? 'INVALID_TIMESTAMP' : 'INVALID_RECORD',
      `${bad.length} of ${index} records for ${partition} are refused (${shown.join(', ')}${more})`,
    ),
    records: bad,
  }
}

function invalid(code: InvalidBatch['code'], message: string): InvalidBatch {
  return { ok: false, code, message, records: [] }
}
