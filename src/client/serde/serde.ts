// What turns values into bytes and back. `null` (no key, a tombstone) never reaches a serde: producer and consumer handle it.
import { KafkaError, UsageError } from '../../errors.js'
import { shown } from '../../util/options.js'

/**
 * Turns values of one type into bytes and back.
 *
 * @typeParam In what may be sent
 * @typeParam Out what is read; the same unless reading is more precise (text or bytes in, a Buffer out)
 */
export interface Serde<In, Out = In> {
  /** Bytes, text (sent as UTF-8), or `null` for a tombstone. Throws when the value cannot be sent. */
  serialize(value: In): Uint8Array | string | null
  /** `bytes` is a view of what was fetched: copy what is kept longer than the record. Throws when it does not understand them. */
  deserialize(bytes: Buffer): Out
}

/** UTF-8 text. */
export function string(): Serde<string> {
  return textSerde
}

/** Bytes as they are: any Uint8Array in, a Buffer out. */
export function bytes(): Serde<Uint8Array, Buffer> {
  return bytesSerde
}

/**
 * JSON text. `T` is what the caller says it is; nothing checks it at run time.
 *
 * @example
 * const orders = topic('orders', { key: string(), value: json<Order>() })
 */
export function json<T>(): Serde<T> {
  return jsonSerde as Serde<T>
}

/** A 32-bit integer, big endian, as Kafka's IntegerSerializer writes it. */
export function int32(): Serde<number> {
  return int32Serde
}

/** A 64-bit integer as bigint, big endian, as Kafka's LongSerializer writes it. */
export function int64(): Serde<bigint> {
  return int64Serde
}

/** A 64-bit floating point number, big endian, as Kafka's DoubleSerializer writes it. */
export function float64(): Serde<number> {
  return float64Serde
}

/** A UUID in its text form of 36 characters, as Kafka's UUIDSerializer writes it. Read in lower case. */
export function uuid(): Serde<string> {
  return uuidSerde
}

/**
 * Tells the types that a topic holds tombstones: its values are then read as `T | null`.
 *
 * @example
 * const accounts = topic('accounts', { key: string(), value: nullable(json<Account>()) })
 */
export function nullable<In, Out>(serde: Serde<In, Out>): Serde<In | null, Out | null> {
  return {
    serialize: (value) => (value === null ? null : serde.serialize(value)),
    deserialize: (bytes) => serde.deserialize(bytes),
  }
}

/** What a topic without serdes has: text or bytes in, a Buffer out. */
export const rawSerde: Serde<string | Uint8Array, Buffer> = {
  serialize: (value) => value,
  deserialize: (bytes) => bytes,
}

const textSerde: Serde<string> = {
  serialize: (value) => (typeof value === 'string' ? value : refused('a string', value)),
  deserialize: (bytes) => bytes.toString('utf8'),
}

const bytesSerde: Serde<Uint8Array, Buffer> = {
  serialize: (value) => (value instanceof Uint8Array ? value : refused('a Uint8Array', value)),
  deserialize: (bytes) => bytes,
}

const jsonSerde: Serde<unknown> = {
  serialize: (value) => JSON.stringify(value) ?? refused('something that JSON can hold', value),
  deserialize: (bytes) => JSON.parse(bytes.toString('utf8')) as unknown,
}

const int32Serde: Serde<number> = {
  serialize(value) {
    if (typeof value !== 'number' || (value | 0) !== value) return refused('a 32-bit integer', value)
    const bytes = Buffer.allocUnsafeSlow(4)
    bytes.writeInt32BE(value)
    return bytes
  },
  deserialize: (bytes) => ofLength(4, bytes).readInt32BE(),
}

const int64Serde: Serde<bigint> = {
  serialize(value) {
    if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) return refused('a bigint of 64 bits', value)
    const bytes = Buffer.allocUnsafeSlow(8)
    bytes.writeBigInt64BE(value)
    return bytes
  },
  deserialize: (bytes) => ofLength(8, bytes).readBigInt64BE(),
}

const float64Serde: Serde<number> = {
  serialize(value) {
    if (typeof value !== 'number') return refused('a number', value)
    const bytes = Buffer.allocUnsafeSlow(8)
    bytes.writeDoubleBE(value)
    return bytes
  },
  deserialize: (bytes) => ofLength(8, bytes).readDoubleBE(),
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const uuidSerde: Serde<string> = {
  serialize(value) {
    const text = typeof value === 'string' ? value.toLowerCase() : ''
    return uuidForm.test(text) ? text : refused('a UUID like 123e4567-e89b-12d3-a456-426614174000', value)
  },
  deserialize(bytes) {
    const text = bytes.toString('latin1').toLowerCase()
    if (uuidForm.test(text)) return text
    throw new KafkaError(`${bytes.length} bytes that are no UUID in text form`, { code: 'MALFORMED_MESSAGE' })
  },
}

function refused(wanted: string, got: unknown): never {
  throw new UsageError(`the value must be ${wanted}, got ${shown(got)}`)
}

function ofLength(length: number, bytes: Buffer): Buffer {
  if (bytes.length === length) return bytes
  throw new KafkaError(`must be ${length} bytes, got ${bytes.length}`, { code: 'MALFORMED_MESSAGE' })
}
