// Writes Kafka's primitive types into a growing buffer. Record sets are not copied: they become chunks of their own, and a
// message leaves as a list of chunks for one corked write.
import { UsageError } from '../../errors.js'
import { int64Max } from './reader.js'
import { parseUuid } from './uuid.js'

export class Writer {
  #buffer: Buffer
  #start = 0 // of the chunk being written, in #buffer
  #position = 0
  #doneBytes = 0
  readonly #done: Uint8Array[] = []

  constructor(initialBytes = 512) {
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes)
  }

  /** Bytes written so far, over all chunks. */
  get length(): number {
    return this.#doneBytes + this.#position - this.#start
  }

  #reserve(bytes: number): number {
    const at = this.#position
    if (at + bytes > this.#buffer.length) {
      const pending = this.#buffer.subarray(this.#start, at)
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(2 * this.#buffer.length, pending.length + bytes))
      this.#buffer.set(pending)
      this.#start = 0
      this.#position = pending.length + bytes
      return pending.length
    }
    this.#position = at + bytes
    return at
  }

  int8(value: number): void {
    const at = this.#reserve(1)
    this.#buffer.writeInt8(value, at)
  }

  int16(value: number): void {
    const at = this.#reserve(2)
    this.#buffer.writeInt16BE(value, at)
  }

  uint16(value: number): void {
    const at = this.#reserve(2)
    this.#buffer.writeUInt16BE(value, at)
  }

  int32(value: number): void {
    const at = this.#reserve(4)
    this.#buffer.writeInt32BE(value, at)
  }

  int64(value: number): void {
    const at = this.#reserve(8)
    if (Number.isSafeInteger(value)) {
      const high = Math.floor(value / 2 ** 32)
      this.#buffer.writeInt32BE(high, at)
      this.#buffer.writeUInt32BE(value - high * 2 ** 32, at + 4)
    } else if (value === int64Max) {
      this.#buffer.writeInt32BE(0x7fffffff, at)
      this.#buffer.writeUInt32BE(0xffffffff, at + 4)
    } else {
      throw new UsageError(`an int64 must be a safe integer, got ${value}`)
    }
  }

  float64(value: number): void {
    const at = this.#reserve(8)
    this.#buffer.writeDoubleBE(value, at)
  }

  uvarint(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.#byte((rest & 0x7f) | 0x80)
      rest = Math.floor(rest / 128)
    }
    this.#byte(rest)
  }

  #byte(value: number): void {
    const at = this.#reserve(1)
    this.#buffer[at] = value
  }

  bool(value: boolean): void {
    this.#byte(value ? 1 : 0)
  }

  uuid(value: string): void {
    this.bytes(parseUuid(value))
  }

  utf8(value: string, byteLength: number): void {
    const at = this.#reserve(byteLength)
    this.#buffer.write(value, at, byteLength, 'utf8')
  }

  bytes(value: Uint8Array): void {
    const at = this.#reserve(value.length)
    this.#buffer.set(value, at)
  }

  /** Appends a chunk without copying it; it must not change until the message is sent. */
  chunk(value: Uint8Array): void {
    this.#closeChunk()
    this.#done.push(value)
    this.#doneBytes += value.length
  }

  #closeChunk(): void {
    if (this.#position === this.#start) return
    this.#done.push(this.#buffer.subarray(this.#start, this.#position))
    this.#doneBytes += this.#position - this.#start
    this.#start = this.#position
  }

  /** Everything written, in order. The writer must not be used afterwards. */
  finish(): readonly Uint8Array[] {
    this.#closeChunk()
    return this.#done
  }
}
