// Writes the records of a batch anew, with offsets that count from 0 and another codec: for a topic whose compression.type is
// not the producer's (T95), and for batches whose inner offsets are not sequential.
import { BatchBuilder } from './batch-builder.js'
import type { Codec } from './compression/index.js'
import type { RecordBatch } from './record-batch.js'
import { RecordCursor } from './record-cursor.js'
import { RecordView } from './record.js'

/** The bytes of a batch with the same records, producer and attributes but for the codec; its base offset is 0. */
export function rewriteBatch(batch: RecordBatch, codec: Codec, maxBytes?: number): Buffer {
  const builder = new BatchBuilder(Number.POSITIVE_INFINITY, batch.sizeInBytes)
  for (const cursor = new RecordCursor(batch, maxBytes); cursor.next();) {
    const { timestamp, key, value, headers } = new RecordView(cursor)
    builder.append(timestamp, key, value, headers)
  }
  const { producerId, producerEpoch, baseSequence, isTransactional, isControl } = batch
  const stamp = { producerId, producerEpoch, baseSequence, transactional: isTransactional, control: isControl }
  const bytes = Buffer.from(builder.seal({ ...stamp, codec }))
  builder.release()
  return bytes
}
