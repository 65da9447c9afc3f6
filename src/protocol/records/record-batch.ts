// A record batch (magic 2) as a view of its bytes: the header's fields, the checksum, and the way to its records. Decoding
// records is the cursor's work, checking what a producer sent validate.ts's.
import { RecordError, type ErrorCode } from '../../errors.js'
import { codecById, type Codec } from './compression/index.js'
import { crc32c } from './crc32c.js'
import {
  attributesAt,
  baseSequenceAt,
  baseTimestampAt,
  batchHeaderSize,
  batchLengthAt,
  codecMask,
  controlBit,
  crcAt,
  int16,
  int32,
  int64,
  lastOffsetDeltaAt,
  leaderEpochAt,
  lengthOverhead,
  logAppendTimeBit,
  magicAt,
  maxTimestampAt,
  producerEpochAt,
  producerIdAt,
  recordCountAt,
  transactionalBit,
} from './layout.js'

export type TimestampType = 'CreateTime' | 'LogAppendTime'

/** Where records come from; errors name it. May be an object with more in it, shared by all batches of a partition. */
export interface RecordSource {
  readonly topic: string
  readonly partition: number
}

export class RecordBatch<S extends RecordSource = RecordSource> {
  /** Exactly this batch. */
  readonly bytes: Buffer
  readonly where: S
  readonly baseOffset: number

  /** @internal `bytes` is one whole batch with magic 2, as {@link splitBatches} found it. */
  constructor(bytes: Buffer, where: S) {
    this.bytes = bytes
    this.where = where
    this.baseOffset = int64(bytes, 0)
  }

  get sizeInBytes(): number {
    return this.bytes.length
  }

  /** May be the offset of no record: compaction leaves gaps. */
  get lastOffset(): number {
    return this.baseOffset + int32(this.bytes, lastOffsetDeltaAt)
  }

  /** Where to read on after this batch, whatever records it holds. */
  get nextOffset(): number {
    return this.lastOffset + 1
  }

  get leaderEpoch(): number {
    return int32(this.bytes, leaderEpochAt)
  }

  get crc(): number {
    return int32(this.bytes, crcAt) >>> 0
  }

  get attributes(): number {
    return int16(this.bytes, attributesAt)
  }

  get codecId(): number {
    return this.bytes[attributesAt + 1]! & codecMask
  }

  /** @throws {RecordError} UNSUPPORTED_COMPRESSION_TYPE */
  get codec(): Codec {
    const id = this.codecId
    if (id > 4)
      throw this.error('UNSUPPORTED_COMPRESSION_TYPE', `it is compressed by a codec with the unknown id ${id}`)
    return codecById(id)
  }

  get timestampType(): TimestampType {
    return this.bytes[attributesAt + 1]! & logAppendTimeBit ? 'LogAppendTime' : 'CreateTime'
  }

  get isTransactional(): boolean {
    return (this.bytes[attributesAt + 1]! & transactionalBit) !== 0
  }

  get isControl(): boolean {
    return (this.bytes[attributesAt + 1]! & controlBit) !== 0
  }

  get lastOffsetDelta(): number {
    return int32(this.bytes, lastOffsetDeltaAt)
  }

  get baseTimestamp(): number {
    return this.#safe(baseTimestampAt, 'base timestamp')
  }

  get maxTimestamp(): number {
    return this.#safe(maxTimestampAt, 'largest timestamp')
  }

  /** -1 if the producer is not idempotent. */
  get producerId(): number {
    return this.#safe(producerIdAt, 'producer id')
  }

  get producerEpoch(): number {
    return int16(this.bytes, producerEpochAt)
  }

  get baseSequence(): number {
    return int32(this.bytes, baseSequenceAt)
  }

  get recordCount(): number {
    return int32(this.bytes, recordCountAt)
  }

  isCrcValid(): boolean {
    return crc32c(this.bytes, attributesAt, this.bytes.length) === this.crc
  }

  /** @throws {RecordError} CORRUPT_MESSAGE */
  verifyCrc(): void {
    if (this.isCrcValid()) return
    throw this.error('CORRUPT_MESSAGE', `its CRC is ${hex(this.crc)} by its header`)
  }

  /** An error that says where it was: at the record with `offset`, or at the whole batch. */
  error(code: ErrorCode, what: string, offset?: number, cause?: unknown): RecordError {
    if (offset !== undefined) return recordError(this.where, 'record', offset, offset + 1, code, what, cause)
    return recordError(this.where, 'record batch', this.baseOffset, this.nextOffset, code, what, cause)
  }

  #safe(at: number, what: string): number {
    const value = int64(this.bytes, at)
    if (Number.isSafeInteger(value)) return value
    throw this.error('CORRUPT_MESSAGE', `its ${what} ${this.bytes.readBigInt64BE(at)} is outside the safe integers`)
  }
}

/**
 * The batches in what a fetch gave. Only headers are read. A last batch that was cut off is left out, as Kafka allows it. What
 * is no batch is an error if it comes first; otherwise the batches before it are returned, so that they can be read and the
 * error met at the next fetch.
 * @throws {RecordError} CORRUPT_MESSAGE for impossible lengths, UNSUPPORTED_FOR_MESSAGE_FORMAT for magic 0 and 1
 */
export function splitBatches<S extends RecordSource>(bytes: Buffer, where: S): RecordBatch<S>[] {
  const batches: RecordBatch<S>[] = []
  for (let p = 0; bytes.length - p >= magicAt + 1;) {
    const size = int32(bytes, p + batchLengthAt) + lengthOverhead
    const offset = int64(bytes, p)
    const magic = bytes[p + magicAt]!
    let error: RecordError | null = null
    if (magic < 2) {
      const what = `it is in the message format of Kafka before 0.11 (magic ${magic})`
      error = recordError(where, 'record batch', offset, offset + 1, 'UNSUPPORTED_FOR_MESSAGE_FORMAT', what)
    } else if (magic > 2) error = notABatch(where, offset, `its magic is ${magic}`)
    else if (size < batchHeaderSize) error = notABatch(where, offset, `its length is ${size}`)
    else if (size > bytes.length - p) break
    else if (int32(bytes, p + lastOffsetDeltaAt) < 0 || !Number.isSafeInteger(offset + 0x7fffffff) || offset < 0) {
      error = notABatch(where, offset, 'its offsets are impossible')
    }
    if (error !== null) {
      if (batches.length === 0) throw error
      break
    }
    batches.push(new RecordBatch(bytes.subarray(p, p + size), where))
    p += size
  }
  return batches
}

function notABatch(where: RecordSource, offset: number, what: string): RecordError {
  return recordError(where, 'record batch', offset, undefined, 'CORRUPT_MESSAGE', what)
}

function recordError(
  { topic, partition }: RecordSource,
  subject: 'record' | 'record batch',
  offset: number,
  nextOffset: number | undefined,
  code: ErrorCode,
  what: string,
  cause?: unknown,
): RecordError {
  const message = `the ${subject} at ${topic}-${partition} offset ${offset} cannot be read: ${what}`
  return new RecordError(message, { code, topic, partition, offset, nextOffset, cause })
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0')
}
