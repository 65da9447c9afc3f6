// The way of produced batches into a partition's log: validated all or nothing, checked against the producer's sequences, then
// patched in the producer's own bytes. Nothing is re-encoded unless the topic asks for another codec.
import { errorCodes } from '../protocol/messages/error-table.js'
import {
  codecByName,
  patchForAppend,
  rewriteBatch,
  validateBatch,
  type RecordBatch,
} from '../protocol/records/index.js'
import { batchHeaderSize, batchLengthAt, int32, lengthOverhead, magicAt } from '../protocol/records/layout.js'
import type { ProducerBatch } from './log/producer-states.js'
import type { Partition } from './topic.js'

export interface AppendResult {
  readonly errorCode: number
  readonly baseOffset: number
  readonly logAppendTimeMs: number
  readonly logStartOffset: number
  /** KIP-467: which records are to blame. */
  readonly recordErrors: readonly { readonly batchIndex: number; readonly batchIndexErrorMessage: string | null }[]
  readonly errorMessage: string | null
}

const noRecordErrors: AppendResult['recordErrors'] = []

export function refusedAppend(
  errorCode: number,
  errorMessage: string | null = null,
  recordErrors = noRecordErrors,
  logStartOffset = -1,
): AppendResult {
  return { errorCode, baseOffset: -1, logAppendTimeMs: -1, logStartOffset, recordErrors, errorMessage }
}

/**
 * Appends the one batch that a Produce request holds for a partition. `now` is the broker's date. A promise only when a codec has to
 * be loaded first.
 */
export function append(partition: Partition, bytes: Buffer | null, now: number): AppendResult | Promise<AppendResult> {
  const { log, producers, settings, source, leaderEpoch } = partition
  const validated = validateBatch(bytes, source, { ...settings, nowMs: now })
  if (!validated.ok) {
    const { code, message, records } = validated
    const recordErrors = records.map((bad) => ({
      batchIndex: bad.batchIndex,
      batchIndexErrorMessage: bad.message,
    }))
    // As in Kafka: what is refused before the log looks at it does not know the log's start.
    const isEarly = code === 'CORRUPT_MESSAGE' || code === 'MESSAGE_TOO_LARGE' || !isOneBatch(bytes)
    return refusedAppend(errorCodes[code], message, recordErrors, isEarly ? -1 : log.startOffset)
  }
  const { batch } = validated
  if (batch.isTransactional) {
    const message = `this broker has no transactions yet (a transactional batch for ${source.topic}-${source.partition})`
    return refusedAppend(errorCodes.INVALID_TXN_STATE, message)
  }

  const producer = producerOf(batch)
  if (producer) {
    producers.expire(now, settings.producerExpirationMs)
    const verdict = producers.check(producer, `${source.topic}-${source.partition}`)
    if (verdict.kind === 'refused') return refusedAppend(verdict.code, verdict.message, noRecordErrors, log.startOffset)
    if (verdict.kind === 'duplicate') return appended(verdict.baseOffset, verdict.timestamp, log.startOffset)
  }

  const codec = settings.compression === undefined ? batch.codec : codecByName(settings.compression)
  const keepsBytes = codec.id === batch.codecId && validated.isSequential
  const loading = keepsBytes ? null : codec.load()
  if (loading) return loading.then(() => append(partition, bytes, now))
  const kept = keepsBytes ? batch.bytes : rewriteBatch(batch, codec, settings.maxDecompressedBytes)
  const isLogAppendTime = settings.timestampType === 'LogAppendTime'
  const baseOffset = log.endOffset
  const maxTimestamp = isLogAppendTime ? now : validated.maxTimestamp
  patchForAppend(kept, baseOffset, leaderEpoch, { isLogAppendTime, maxTimestamp })
  log.append(kept)
  const logAppendTimeMs = isLogAppendTime ? now : -1
  if (producer) producers.appended({ ...producer, timestamp: maxTimestamp }, baseOffset, now)
  partition.changed()
  return appended(baseOffset, logAppendTimeMs, log.startOffset)
}

function appended(baseOffset: number, logAppendTimeMs: number, logStartOffset: number): AppendResult {
  const recordErrors = noRecordErrors
  return { errorCode: errorCodes.NONE, baseOffset, logAppendTimeMs, logStartOffset, recordErrors, errorMessage: null }
}

function isOneBatch(bytes: Buffer | null): boolean {
  if (bytes === null || bytes.length < batchHeaderSize || bytes[magicAt] !== 2) return false
  return int32(bytes, batchLengthAt) + lengthOverhead === bytes.length
}

function producerOf(batch: RecordBatch): ProducerBatch | undefined {
  const { producerId } = batch
  if (producerId < 0) return undefined
  const { producerEpoch, baseSequence, lastOffsetDelta } = batch
  return { producerId, producerEpoch, baseSequence, lastOffsetDelta, timestamp: -1 }
}
