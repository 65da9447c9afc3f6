// What every codec is, and the errors they all give. Codecs know bytes only; the caller adds topic, partition and offset.
import { KafkaError } from '../../../errors.js'

export type CodecId = 0 | 1 | 2 | 3 | 4
export type CodecName = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

export interface Codec {
  /** As in the three lowest bits of a batch's attributes. */
  readonly id: CodecId
  readonly name: CodecName
  /** A promise as long as `compress` has something to load first; null when it is ready. Reading never needs it. */
  load(): Promise<void> | null
  /** Never a view of `bytes` (but for `none`). @param level the codec's own; ignored by those that have none */
  compress(bytes: Uint8Array, level?: number): Buffer
  /** @throws {KafkaError} CORRUPT_MESSAGE; also when more than `maxBytes` would come out. */
  decompress(bytes: Uint8Array, maxBytes: number): Buffer
}

export function corrupt(codec: CodecName, what: string, cause?: unknown): KafkaError {
  return new KafkaError(`${codec}: ${what}`, { code: 'CORRUPT_MESSAGE', cause })
}

export function tooLarge(codec: CodecName, maxBytes: number): KafkaError {
  return corrupt(codec, `decompresses to more than the limit of ${maxBytes} bytes`)
}

/** An output that grows by doubling, never beyond the limit. Filled from the front; what was written can be copied from. */
export class BoundedOutput {
  buffer: Buffer
  length = 0
  readonly maxBytes: number
  readonly #codec: CodecName

  constructor(codec: CodecName, maxBytes: number, expectedBytes: number) {
    this.maxBytes = maxBytes
    this.#codec = codec
    this.buffer = Buffer.allocUnsafeSlow(Math.min(expectedBytes, maxBytes))
  }

  /** Makes room for up to `bytes` more, less if the limit comes first. */
  reserve(bytes: number): void {
    const wanted = Math.min(this.length + bytes, this.maxBytes)
    if (wanted <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, this.buffer.length * 2), this.maxBytes))
    larger.set(this.buffer.subarray(0, this.length))
    this.buffer = larger
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.maxBytes) throw this.tooLarge()
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  fill(byte: number, count: number): void {
    if (this.length + count > this.maxBytes) throw this.tooLarge()
    this.reserve(count)
    this.buffer.fill(byte, this.length, this.length + count)
    this.length += count
  }

  tooLarge(): KafkaError {
    return tooLarge(this.#codec, this.maxBytes)
  }

  /** What was written; in memory of about its own size, since records keep it alive. */
  finish(): Buffer {
    if (this.length === this.buffer.length) return this.buffer
    const bytes = this.buffer.subarray(0, this.length)
    if (this.length > this.buffer.length / 2) return bytes
    const small = Buffer.allocUnsafeSlow(this.length)
    small.set(bytes)
    return small
  }
}
