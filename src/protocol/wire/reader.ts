// Reads Kafka's primitive types out of one Buffer. Every read is bounds-checked: bytes that end early or lie about a length
// give a KafkaError (MALFORMED_MESSAGE), never a foreign exception or an allocation larger than the input.
import { KafkaError } from '../../errors.js'
import { formatUuid } from './uuid.js'

/** Kafka's Long.MAX_VALUE, a sentinel in several messages; the only int64 outside the safe range that is read and written. */
export const int64Max = 2 ** 63

export function malformed(what: string): KafkaError {
  return new KafkaError(what, { code: 'MALFORMED_MESSAGE' })
}

export class Reader {
  readonly buffer: Buffer
  position: number
  readonly end: number

  constructor(buffer: Buffer, position = 0, end = buffer.length) {
    this.buffer = buffer
    this.position = position
    this.end = end
  }

  get remaining(): number {
    return this.end - this.position
  }

  #take(bytes: number): number {
    const at = this.position
    if (bytes < 0 || bytes > this.end - at) {
      throw malformed(`${bytes} bytes wanted at position ${at}, but only ${this.end - at} are left`)
    }
    this.position = at + bytes
    return at
  }

  int8(): number {
    return this.buffer.readInt8(this.#take(1))
  }

  int16(): number {
    return this.buffer.readInt16BE(this.#take(2))
  }

  uint16(): number {
    return this.buffer.readUInt16BE(this.#take(2))
  }

  int32(): number {
    return this.buffer.readInt32BE(this.#take(4))
  }

  /** Throws outside the safe integers, but for {@link int64Max}. */
  int64(): number {
    const at = this.#take(8)
    const high = this.buffer.readInt32BE(at)
    const low = this.buffer.readUInt32BE(at + 4)
    const value = high * 2 ** 32 + low
    if (Number.isSafeInteger(value)) return value
    if (high === 0x7fffffff && low === 0xffffffff) return int64Max
    throw malformed(`the int64 ${this.buffer.readBigInt64BE(at)} is outside the safe integers`)
  }

  float64(): number {
    return this.buffer.readDoubleBE(this.#take(8))
  }

  uvarint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.buffer[this.#take(1)] as number
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) {
        if (value > 0xffffffff) break
        return value
      }
    }
    throw malformed(`a varint of more than 32 bits ends at position ${this.position}`)
  }

  bool(): boolean {
    return this.int8() !== 0
  }

  uuid(): string {
    return formatUuid(this.buffer, this.#take(16))
  }

  /** `length` bytes as a view of the frame. */
  view(length: number): Buffer {
    const at = this.#take(length)
    return this.buffer.subarray(at, at + length)
  }

  utf8(length: number): string {
    const at = this.#take(length)
    return this.buffer.toString('utf8', at, at + length)
  }

  skip(length: number): void {
    this.#take(length)
  }
}
