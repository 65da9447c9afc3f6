// Control records: the markers that end transactions. Written by brokers, read by consumers, never given to users.
import { BatchBuilder } from './batch-builder.js'
import { int16, int32, putInt16, putInt32 } from './layout.js'
import type { RecordBatch } from './record-batch.js'
import { RecordCursor } from './record-cursor.js'

export interface EndTransactionMarker {
  readonly type: 'ABORT' | 'COMMIT'
  readonly coordinatorEpoch: number
}

const abortType = 0
const commitType = 1

/**
 * What a control batch says: its one record's marker; null for control records of other kinds (of the controllers' log) and for
 * a batch whose record was compacted away.
 * @throws {RecordError} CORRUPT_MESSAGE
 */
export function readControlBatch(batch: RecordBatch): EndTransactionMarker | null {
  const cursor = new RecordCursor(batch)
  if (!cursor.next()) return null
  const { bytes, keyStart, keyLength, valueStart, valueLength } = cursor
  if (keyLength < 4) throw batch.error('CORRUPT_MESSAGE', `the key of its control record has ${keyLength} bytes`)
  const type = int16(bytes, keyStart + 2)
  if (type !== abortType && type !== commitType) return null
  if (valueLength < 6) throw batch.error('CORRUPT_MESSAGE', `the value of its marker has ${valueLength} bytes`)
  return { type: type === commitType ? 'COMMIT' : 'ABORT', coordinatorEpoch: int32(bytes, valueStart + 2) }
}

/** The bytes of a batch with an end-of-transaction marker, at base offset 0. */
export function writeEndTransactionMarker(
  marker: EndTransactionMarker,
  producer: { readonly producerId: number; readonly producerEpoch: number },
  timestampMs: number,
): Buffer {
  const key = Buffer.alloc(4)
  putInt16(key, 2, marker.type === 'COMMIT' ? commitType : abortType)
  const value = Buffer.alloc(6)
  putInt32(value, 2, marker.coordinatorEpoch)
  const builder = new BatchBuilder()
  builder.append(timestampMs, key, value)
  const bytes = Buffer.from(builder.seal({ ...producer, transactional: true, control: true }))
  builder.release()
  return bytes
}
