// Record batches: building, reading, checking and patching them.
export { patchForAppend, type AppendTimestamp } from './append.js'
export {
  BatchBuilder,
  type BytesInput,
  type HeaderInput,
  type HeadersInput,
  type ProducerStamp,
  type SealOptions,
} from './batch-builder.js'
export { codecById, codecByName, codecNames, type Codec, type CodecId, type CodecName } from './compression/index.js'
export { readControlBatch, writeEndTransactionMarker, type EndTransactionMarker } from './control-records.js'
export { crc32c } from './crc32c.js'
export { RecordBatch, splitBatches, type RecordSource, type TimestampType } from './record-batch.js'
export { RecordCursor } from './record-cursor.js'
export { RecordView, recordsOf, type Header, type RecordPositions } from './record.js'
export { rewriteBatch } from './rewrite.js'
export { validateBatch, type BadRecord, type BatchRules, type InvalidBatch, type ValidBatch } from './validate.js'
