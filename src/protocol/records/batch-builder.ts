// The open batch of one partition: every record is written once, when it is appended, into a pooled buffer, and at sealing only
// the header and the checksum are filled in. Knows nothing of partitions, sequences' order or requests.
import { UsageError } from '../../errors.js'
import { batchBuffers } from './buffer-pool.js'
import type { Codec } from './compression/index.js'
import { crc32c } from './crc32c.js'
import {
  attributesAt,
  baseOffsetAt,
  baseSequenceAt,
  baseTimestampAt,
  batchHeaderSize,
  batchLengthAt,
  controlBit,
  crcAt,
  lastOffsetDeltaAt,
  leaderEpochAt,
  lengthOverhead,
  magicAt,
  maxTimestampAt,
  producerEpochAt,
  producerIdAt,
  putInt16,
  putInt32,
  putInt64,
  putVarint,
  putVarlong,
  recordCountAt,
  transactionalBit,
  varintSize,
  varlongSize,
} from './layout.js'
import { removeRecord } from './remove-record.js'

/** What a key, value or header value may be. `null` and empty are different things. */
export type BytesInput = string | Uint8Array | null

export interface HeaderInput {
  readonly key: string
  readonly value: BytesInput
}

/** Headers in order, duplicates allowed; or an object where neither order (of number-like names) nor duplicates matter. */
export type HeadersInput = readonly HeaderInput[] | Readonly<Record<string, BytesInput>>

/** What the sender knows only when a batch is drained. */
export interface ProducerStamp {
  /** -1 (the default) for a producer that is not idempotent. */
  readonly producerId?: number | undefined
  readonly producerEpoch?: number | undefined
  readonly baseSequence?: number | undefined
}

export interface SealOptions extends ProducerStamp {
  readonly transactional?: boolean | undefined
  /** Marks a control batch; only brokers write them. */
  readonly control?: boolean | undefined
  /** Left out or `none`: not compressed. A codec that has to be loaded first must be. */
  readonly codec?: Codec | undefined
  /** The codec's own level. */
  readonly level?: number | undefined
}

interface NodeBuffer extends Buffer {
  utf8Write(text: string, offset: number): number
}

const noHeaders: readonly HeaderInput[] = []
/** Up to this length a loop over char codes beats the call into Node. */
const loopedTextLength = 24
/** From this length on text is measured first, so that the room reserved for it is not three times what it takes. */
const measuredTextLength = 4096

export class BatchBuilder {
  #buffer: Buffer
  #size = batchHeaderSize
  #count = 0
  #baseTimestamp = 0
  #maxTimestamp = 0
  #sealed: Buffer | null = null
  readonly #maxBytes: number

  /**
   * @param maxBytes a record that would take the batch beyond this is not appended, unless it is the first
   * @param expectedBytes how large the batch will probably get; saves growing
   */
  constructor(maxBytes = Number.POSITIVE_INFINITY, expectedBytes = 0) {
    this.#maxBytes = maxBytes
    this.#buffer = batchBuffers.take(Math.max(batchHeaderSize, Math.min(expectedBytes, maxBytes)))
  }

  /** The size of a batch with only this record: what it takes at most of a larger batch. */
  static sizeOf(key: BytesInput, value: BytesInput, headers?: HeadersInput): number {
    const body = bodySize(0, 0x7fffffff, bytesLength(key), bytesLength(value), headersSize(listOf(headers)))
    return batchHeaderSize + varintSize(body) + body
  }

  get count(): number {
    return this.#count
  }

  /** Of the batch as it would be sent without compression; once sealed, as it is sent. */
  get sizeInBytes(): number {
    return this.#sealed === null ? this.#size : this.#sealed.length
  }

  get isSealed(): boolean {
    return this.#sealed !== null
  }

  get baseTimestamp(): number {
    return this.#baseTimestamp
  }

  get maxTimestamp(): number {
    return this.#maxTimestamp
  }

  /** Writes a record and returns its index (its offset less the batch's base offset), or -1 if it does not fit any more. */
  append(timestampMs: number, key: BytesInput, value: BytesInput, headers?: HeadersInput): number {
    if (this.#sealed !== null) throw new UsageError('a sealed batch takes no more records')
    if (!Number.isSafeInteger(timestampMs)) throw new UsageError(`timestamp must be an integer, got ${timestampMs}`)
    const index = this.#count
    if (index === 0) this.#baseTimestamp = this.#maxTimestamp = timestampMs
    const timestampDelta = timestampMs - this.#baseTimestamp
    const list = headers === undefined ? noHeaders : listOf(headers)
    const headersLength = list.length === 0 ? 1 : headersSize(list)
    // Short text is taken for ASCII; when writing shows that it is not, the record is written again with the lengths found.
    let keyLength = guessedLength(key, 'key')
    let valueLength = guessedLength(value, 'value')
    for (;;) {
      const body = bodySize(timestampDelta, index, keyLength, valueLength, headersLength)
      const size = varintSize(body) + body
      if (index > 0 && this.#size + size > this.#maxBytes) return -1
      this.#reserve(size + textRoom(key) + textRoom(value))
      const buffer = this.#buffer
      let p = putVarint(buffer, this.#size, body)
      buffer[p++] = 0 // attributes
      p = putVarlong(buffer, p, timestampDelta)
      p = putVarint(buffer, p, index)
      let written: number
      if (keyLength < 0) buffer[p++] = 1
      else {
        p = putVarint(buffer, p, keyLength)
        written = putBytes(buffer, p, key as string | Uint8Array)
        if (written !== keyLength) {
          keyLength = written
          continue
        }
        p += keyLength
      }
      if (valueLength < 0) buffer[p++] = 1
      else {
        p = putVarint(buffer, p, valueLength)
        written = putBytes(buffer, p, value as string | Uint8Array)
        if (written !== valueLength) {
          valueLength = written
          continue
        }
        p += valueLength
      }
      if (list.length === 0) buffer[p++] = 0
      else p = putHeaders(buffer, p, list)
      this.#size = p
      this.#count = index + 1
      if (timestampMs > this.#maxTimestamp) this.#maxTimestamp = timestampMs
      return index
    }
  }

  /** Takes a record out again, before sealing; the ones after it move up by one. */
  cut(index: number): void {
    if (this.#sealed !== null) throw new UsageError('a sealed batch cannot lose a record')
    if (!(index >= 0 && index < this.#count))
      throw new UsageError(`record ${index} is not in a batch of ${this.#count}`)
    const { end, maxTimestampDelta } = removeRecord(this.#buffer, batchHeaderSize, this.#size, index)
    this.#size = end
    this.#count--
    this.#maxTimestamp = this.#baseTimestamp + maxTimestampDelta
  }

  /**
   * Closes the batch, compresses it if asked to (and if that makes it smaller), and returns its bytes. They stay the same
   * until {@link BatchBuilder.reseal} or {@link BatchBuilder.release}, so they can be sent again, to another leader too.
   */
  seal(options: SealOptions = {}): Buffer {
    if (this.#sealed !== null) throw new UsageError('the batch is sealed already')
    if (this.#count === 0) throw new UsageError('a batch without records cannot be sealed')
    const buffer = this.#buffer
    let size = this.#size
    let attributes = (options.transactional ? transactionalBit : 0) | (options.control ? controlBit : 0)
    const { codec } = options
    if (codec !== undefined && codec.id !== 0) {
      const compressed = codec.compress(buffer.subarray(batchHeaderSize, size), options.level)
      if (compressed.length < size - batchHeaderSize) {
        buffer.set(compressed, batchHeaderSize)
        size = batchHeaderSize + compressed.length
        attributes |= codec.id
      }
    }
    putInt64(buffer, baseOffsetAt, 0)
    putInt32(buffer, batchLengthAt, size - lengthOverhead)
    putInt32(buffer, leaderEpochAt, -1)
    buffer[magicAt] = 2
    putInt16(buffer, attributesAt, attributes)
    putInt32(buffer, lastOffsetDeltaAt, this.#count - 1)
    putInt64(buffer, baseTimestampAt, this.#baseTimestamp)
    putInt64(buffer, maxTimestampAt, this.#maxTimestamp)
    putInt32(buffer, recordCountAt, this.#count)
    const sealed = buffer.subarray(0, size)
    stamp(sealed, options)
    this.#sealed = sealed
    return sealed
  }

  /** Gives a sealed batch another producer id, epoch or sequence: for one that is known not to have been appended. */
  reseal(options: ProducerStamp): Buffer {
    if (this.#sealed === null) throw new UsageError('only a sealed batch can be sealed again')
    stamp(this.#sealed, options)
    return this.#sealed
  }

  /** Gives the memory back, after the batch's final outcome: no socket may hold its bytes any more. */
  release(): void {
    if (this.#buffer.length === 0) return
    batchBuffers.give(this.#buffer)
    this.#buffer = this.#sealed = Buffer.alloc(0)
  }

  #reserve(bytes: number): void {
    const wanted = this.#size + bytes
    if (wanted <= this.#buffer.length) return
    const larger = batchBuffers.take(Math.max(wanted, this.#buffer.length * 2))
    larger.set(this.#buffer.subarray(0, this.#size))
    batchBuffers.give(this.#buffer)
    this.#buffer = larger
  }
}

function stamp(batch: Buffer, { producerId = -1, producerEpoch = -1, baseSequence = -1 }: ProducerStamp): void {
  putInt64(batch, producerIdAt, producerId)
  putInt16(batch, producerEpochAt, producerEpoch)
  putInt32(batch, baseSequenceAt, baseSequence)
  putInt32(batch, crcAt, crc32c(batch, attributesAt, batch.length))
}

/** Everything of a record but the length in front; the lengths are -1 for null. */
function bodySize(
  timestampDelta: number,
  index: number,
  keyLength: number,
  valueLength: number,
  headers: number,
): number {
  return (
    1 +
    (timestampDelta === 0 ? 1 : varlongSize(timestampDelta)) +
    varintSize(index) +
    (keyLength < 0 ? 1 : varintSize(keyLength) + keyLength) +
    (valueLength < 0 ? 1 : varintSize(valueLength) + valueLength) +
    headers
  )
}

function guessedLength(bytes: BytesInput, what: string): number {
  if (bytes === null) return -1
  if (typeof bytes === 'string') return bytes.length < measuredTextLength ? bytes.length : Buffer.byteLength(bytes)
  if (bytes instanceof Uint8Array) return bytes.length
  throw new UsageError(`${what} must be a string, a Uint8Array or null, got ${typeof bytes}`)
}

/** What short text may take beyond its guessed length. */
function textRoom(bytes: BytesInput): number {
  return typeof bytes === 'string' && bytes.length < measuredTextLength ? bytes.length * 2 : 0
}

/** Writes into room that is large enough for any text of this length; returns the bytes written. */
function putBytes(buffer: Buffer, p: number, bytes: string | Uint8Array): number {
  if (typeof bytes !== 'string') {
    buffer.set(bytes, p)
    return bytes.length
  }
  const { length } = bytes
  if (length > loopedTextLength) return (buffer as NodeBuffer).utf8Write(bytes, p)
  for (let i = 0; i < length; i++) {
    const code = bytes.charCodeAt(i)
    if (code >= 0x80) return (buffer as NodeBuffer).utf8Write(bytes, p)
    buffer[p + i] = code
  }
  return length
}

function listOf(headers: HeadersInput | undefined): readonly HeaderInput[] {
  if (headers === undefined) return noHeaders
  if (Array.isArray(headers)) return headers as readonly HeaderInput[]
  return Object.entries(headers as Readonly<Record<string, BytesInput>>).map(([key, value]) => ({ key, value }))
}

function headersSize(headers: readonly HeaderInput[]): number {
  let size = varintSize(headers.length)
  for (let i = 0; i < headers.length; i++) {
    const { key, value } = headers[i]!
    if (typeof key !== 'string') throw new UsageError(`the key of header ${i} must be a string, got ${typeof key}`)
    if (value !== null && typeof value !== 'string' && !(value instanceof Uint8Array)) {
      throw new UsageError(`header '${key}' must be a string, a Uint8Array or null, got ${typeof value}`)
    }
    const keyLength = Buffer.byteLength(key)
    const valueLength = bytesLength(value)
    size += varintSize(keyLength) + keyLength + (valueLength < 0 ? 1 : varintSize(valueLength) + valueLength)
  }
  return size
}

function putHeaders(buffer: Buffer, p: number, headers: readonly HeaderInput[]): number {
  p = putVarint(buffer, p, headers.length)
  for (let i = 0; i < headers.length; i++) {
    const { key, value } = headers[i]!
    p = putVarint(buffer, p, Buffer.byteLength(key))
    p += putBytes(buffer, p, key)
    if (value === null) buffer[p++] = 1
    else {
      p = putVarint(buffer, p, bytesLength(value))
      p += putBytes(buffer, p, value)
    }
  }
  return p
}

function bytesLength(bytes: BytesInput): number {
  return bytes === null ? -1 : typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length
}
