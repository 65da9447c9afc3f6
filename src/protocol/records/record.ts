// One record as a view: positions in the bytes of its batch, decoded when they are asked for. One hidden class, no closures.
// A view keeps the bytes of its whole batch (and so mostly of the whole response) in memory; copy() lets go of them.
import { attributesAt, baseTimestampAt, batchHeaderSize, codecMask, int64 } from './layout.js'
import { RecordBatch, type RecordSource, type TimestampType } from './record-batch.js'
import { RecordCursor } from './record-cursor.js'

export interface Header {
  readonly key: string
  /** A view like the record. `null` and empty are different things. */
  readonly value: Buffer | null
}

/** What a view is made of: a cursor's position. */
export interface RecordPositions<S extends RecordSource = RecordSource> {
  readonly batch: RecordBatch<S>
  readonly bytes: Buffer
  readonly offsetDelta: number
  readonly timestampDelta: number
  readonly keyStart: number
  readonly keyLength: number
  readonly valueStart: number
  readonly valueLength: number
  readonly end: number
}

const noHeaders: readonly Header[] = []

/**
 * `K` and `V` are what the getters give; a subclass that deserialises overrides `key` and `value`, and is made in the same way:
 * `new Subclass(cursor)` for the record the cursor stands on.
 */
export class RecordView<K = Buffer | null, V = Buffer | null, S extends RecordSource = RecordSource> {
  // All set in the constructor, in one order, all small integers but the first two.
  protected readonly batch: RecordBatch<S>
  protected readonly bytes: Buffer
  protected readonly offsetDelta: number
  protected readonly timestampDelta: number
  protected readonly keyStart: number
  protected readonly keyLength: number
  protected readonly valueStart: number
  protected readonly valueLength: number
  protected readonly end: number

  constructor(cursor: RecordPositions<S>) {
    this.batch = cursor.batch
    this.bytes = cursor.bytes
    this.offsetDelta = cursor.offsetDelta
    this.timestampDelta = cursor.timestampDelta
    this.keyStart = cursor.keyStart
    this.keyLength = cursor.keyLength
    this.valueStart = cursor.valueStart
    this.valueLength = cursor.valueLength
    this.end = cursor.end
  }

  get topic(): string {
    return this.batch.where.topic
  }

  get partition(): number {
    return this.batch.where.partition
  }

  get offset(): number {
    return this.batch.baseOffset + this.offsetDelta
  }

  get leaderEpoch(): number {
    return this.batch.leaderEpoch
  }

  /** The key's bytes: a view, or null. */
  get keyBytes(): Buffer | null {
    return this.keyLength < 0 ? null : this.bytes.subarray(this.keyStart, this.keyStart + this.keyLength)
  }

  /** The value's bytes: a view, or null (a tombstone). */
  get valueBytes(): Buffer | null {
    return this.valueLength < 0 ? null : this.bytes.subarray(this.valueStart, this.valueStart + this.valueLength)
  }

  get key(): K {
    return this.keyBytes as K
  }

  get value(): V {
    return this.valueBytes as V
  }

  /**
   * In milliseconds since 1970; -1 if it has none. Whose clock it is says {@link RecordView.timestampType}.
   * @throws {RecordError} when it is outside the safe integers
   */
  get timestamp(): number {
    const { batch } = this
    if (batch.timestampType === 'LogAppendTime') return batch.maxTimestamp
    const base = int64(batch.bytes, baseTimestampAt)
    let timestamp = base + this.timestampDelta
    if (!Number.isSafeInteger(base)) {
      timestamp = Number(batch.bytes.readBigInt64BE(baseTimestampAt) + BigInt(this.timestampDelta))
    }
    if (Number.isSafeInteger(timestamp)) return timestamp
    throw batch.error('INVALID_TIMESTAMP', `its timestamp ${timestamp} is outside the safe integers`, this.offset)
  }

  get timestampType(): TimestampType {
    return this.batch.timestampType
  }

  /** In order, with duplicates. Made anew each time it is asked for. */
  get headers(): readonly Header[] {
    const start = this.valueStart + Math.max(0, this.valueLength)
    // No headers is one byte of zero.
    return this.bytes[start] === 0 ? noHeaders : this.#readHeaders(start)
  }

  /** The last header of this key, as Java's lastHeader(); undefined if there is none. */
  header(key: string): Buffer | null | undefined {
    return this.headers.findLast((header) => header.key === key)?.value
  }

  /** The same record in memory of its own. */
  copy(): this {
    const { batch, end } = this
    // The batch's header comes along, so that offset, timestamp and the rest are as before, but marked as uncompressed: the
    // record that follows it is.
    const bytes = Buffer.allocUnsafeSlow(batchHeaderSize + end - this.keyStart)
    batch.bytes.copy(bytes, 0, 0, batchHeaderSize)
    this.bytes.copy(bytes, batchHeaderSize, this.keyStart, end)
    bytes[attributesAt + 1]! &= ~codecMask
    const moved = batchHeaderSize - this.keyStart
    const { offsetDelta, timestampDelta, keyLength, valueLength } = this
    const make = this.constructor as new (positions: RecordPositions<S>) => this
    return new make({
      batch: new RecordBatch(bytes, batch.where),
      bytes,
      offsetDelta,
      timestampDelta,
      keyStart: batchHeaderSize,
      keyLength,
      valueStart: this.valueStart + moved,
      valueLength,
      end: end + moved,
    })
  }

  #readHeaders(start: number): Header[] {
    const { bytes, end } = this
    let p = start
    const corrupt = () => this.batch.error('CORRUPT_MESSAGE', 'its headers are not readable', this.offset)
    const varint = (): number => {
      let v = 0
      for (let shift = 0; shift < 35; shift += 7) {
        if (p >= end) throw corrupt()
        const c = bytes[p++]!
        v |= (c & 0x7f) << shift
        if (c < 0x80) return (v >>> 1) ^ -(v & 1)
      }
      throw corrupt()
    }
    const count = varint()
    // A header takes two bytes at least.
    if (count < 0 || count > (end - p) / 2) throw corrupt()
    const headers = new Array<Header>(count)
    for (let i = 0; i < count; i++) {
      const keyLength = varint()
      if (keyLength < 0 || keyLength > end - p) throw corrupt()
      const key = bytes.toString('utf8', p, p + keyLength)
      p += keyLength
      const valueLength = varint()
      if (valueLength < -1 || valueLength > end - p) throw corrupt()
      headers[i] = { key, value: valueLength < 0 ? null : bytes.subarray(p, p + valueLength) }
      if (valueLength > 0) p += valueLength
    }
    return headers
  }
}

/** All records of a batch at once: for inspection, where an object per record does no harm. */
export function recordsOf<S extends RecordSource>(
  batch: RecordBatch<S>,
  maxBytes?: number,
): RecordView<Buffer | null, Buffer | null, S>[] {
  const records: RecordView<Buffer | null, Buffer | null, S>[] = []
  for (const cursor = new RecordCursor(batch, maxBytes); cursor.next();) records.push(new RecordView(cursor))
  return records
}
