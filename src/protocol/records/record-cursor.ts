// Walks the records of one batch, one after another, without making an object for any of them: its fields are the positions
// of the record it stands on. Checks every length before it is used.
import { isKafkaError, type RecordError } from '../../errors.js'
import { batchHeaderSize } from './layout.js'
import type { RecordBatch, RecordSource } from './record-batch.js'

/** What a batch may become when it is decompressed, unless the caller says otherwise. */
export const defaultMaxDecompressedBytes = 128 << 20

export class RecordCursor<S extends RecordSource = RecordSource> {
  readonly batch: RecordBatch<S>
  /** What the positions refer to: the batch itself, or what came out of its codec. */
  readonly bytes: Buffer
  readonly baseOffset: number

  // Of the record the cursor stands on.
  offsetDelta = -1
  timestampDelta = 0
  keyStart = 0
  /** -1 for null. */
  keyLength = -1
  valueStart = 0
  /** -1 for null. */
  valueLength = -1
  /** Where the record ends; its headers lie between the value and here. */
  end: number

  #left: number

  /**
   * Before the first record of the batch; this is where it is decompressed.
   * @throws {RecordError} CORRUPT_MESSAGE (also when more than `maxBytes` would come out), UNSUPPORTED_COMPRESSION_TYPE
   */
  constructor(batch: RecordBatch<S>, maxBytes = defaultMaxDecompressedBytes) {
    const count = batch.recordCount
    if (count < 0) throw batch.error('CORRUPT_MESSAGE', `it has ${count} records`)
    this.batch = batch
    this.bytes = batch.codecId === 0 ? batch.bytes : decompress(batch, count, maxBytes)
    this.baseOffset = batch.baseOffset
    this.end = batch.codecId === 0 ? batchHeaderSize : 0
    this.#left = count
  }

  /** The offset of the record the cursor stands on; before the first, one less than the batch's. */
  get offset(): number {
    return this.baseOffset + this.offsetDelta
  }

  /** How many records {@link RecordCursor.next} has not gone over yet. */
  get left(): number {
    return this.#left
  }

  /**
   * Goes to the next record; false when there is none.
   * @throws {RecordError} CORRUPT_MESSAGE for what cannot be a record; the cursor is at its end then.
   */
  next(): boolean {
    const b = this.bytes
    let p = this.end
    if (this.#left <= 0) {
      if (this.#left === 0 && p !== b.length)
        throw this.#corrupt(`${b.length - p} bytes are left after its last record`)
      return false
    }
    const limit = b.length
    let c = b[p++]!
    let v = c & 0x7f
    for (let shift = 7; c & 0x80; shift += 7) {
      c = b[p++]!
      v |= (c & 0x7f) << shift
    }
    const end = p + (v >>> 1)
    if (v & 1 || p >= limit || end > limit) throw this.#corrupt('a record runs over the end of the batch')
    p++ // attributes: none are in use
    c = b[p++]!
    let timestampDelta: number
    if (c < 0x80) timestampDelta = (c >>> 1) ^ -(c & 1)
    else {
      // Varlongs of up to four bytes are integers of 32 bits, longer ones are rare.
      v = c & 0x7f
      let shift = 7
      do {
        c = b[p++]!
        v |= (c & 0x7f) << shift
        shift += 7
      } while (c & 0x80 && shift < 28)
      if (c & 0x80) {
        const rest = longVarlong(b, p, v)
        timestampDelta = rest.value
        p = rest.next
      } else timestampDelta = (v >>> 1) ^ -(v & 1)
    }
    c = b[p++]!
    v = c & 0x7f
    for (let shift = 7; c & 0x80; shift += 7) {
      c = b[p++]!
      v |= (c & 0x7f) << shift
    }
    const offsetDelta = (v >>> 1) ^ -(v & 1)
    c = b[p++]!
    v = c & 0x7f
    for (let shift = 7; c & 0x80; shift += 7) {
      c = b[p++]!
      v |= (c & 0x7f) << shift
    }
    const keyLength = (v >>> 1) ^ -(v & 1)
    const keyStart = p
    if (keyLength > 0) p += keyLength
    if (keyLength < -1 || p >= end || offsetDelta < 0) throw this.#corrupt('the key of a record runs over its end')
    c = b[p++]!
    v = c & 0x7f
    for (let shift = 7; c & 0x80; shift += 7) {
      c = b[p++]!
      v |= (c & 0x7f) << shift
    }
    const valueLength = (v >>> 1) ^ -(v & 1)
    if (valueLength < -1 || p + (valueLength > 0 ? valueLength : 0) >= end) {
      throw this.#corrupt('the value of a record runs over its end')
    }
    this.offsetDelta = offsetDelta
    this.timestampDelta = timestampDelta
    this.keyStart = keyStart
    this.keyLength = keyLength
    this.valueStart = p
    this.valueLength = valueLength
    this.end = end
    this.#left--
    return true
  }

  #corrupt(what: string): RecordError {
    this.#left = -1
    return this.batch.error('CORRUPT_MESSAGE', what)
  }
}

function decompress(batch: RecordBatch, count: number, maxBytes: number): Buffer {
  // The log cleaner keeps a batch without records for its sequence; nothing is in it to decompress.
  if (count === 0) return Buffer.alloc(0)
  const { codec } = batch
  try {
    return codec.decompress(batch.bytes.subarray(batchHeaderSize), maxBytes)
  } catch (error) {
    if (!isKafkaError(error)) throw error
    throw batch.error(error.code, error.message, undefined, error)
  }
}

/** The rest of a varlong whose first 28 bits are `low`; exact for safe integers. */
function longVarlong(b: Buffer, p: number, low: number): { value: number; next: number } {
  let zigzag = BigInt(low)
  for (let shift = 28n; shift < 70n; shift += 7n) {
    const c = b[p++]!
    zigzag |= BigInt(c & 0x7f) << shift
    if (!(c & 0x80)) break
  }
  return { value: Number(BigInt.asIntN(64, (zigzag >> 1n) ^ -(zigzag & 1n))), next: p }
}
