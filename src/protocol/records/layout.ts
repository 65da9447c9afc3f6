// Where the fields of a record batch (magic 2) lie, and the numbers written by hand. Nothing here decides anything.

/** Bytes from the start of a batch; the length field counts what follows it. */
export const baseOffsetAt = 0
export const batchLengthAt = 8
export const leaderEpochAt = 12
export const magicAt = 16
export const crcAt = 17
export const attributesAt = 21
export const lastOffsetDeltaAt = 23
export const baseTimestampAt = 27
export const maxTimestampAt = 35
export const producerIdAt = 43
export const producerEpochAt = 51
export const baseSequenceAt = 53
export const recordCountAt = 57
/** The size of a batch without records. */
export const batchHeaderSize = 61
/** Base offset and length: what the length field does not count. */
export const lengthOverhead = 12

export const codecMask = 0x07
export const logAppendTimeBit = 0x08
export const transactionalBit = 0x10
export const controlBit = 0x20

/** "No timestamp", in batches and records. */
export const noTimestamp = -1

export function int16(b: Uint8Array, p: number): number {
  return ((b[p]! << 24) >> 16) | b[p + 1]!
}

export function int32(b: Uint8Array, p: number): number {
  return (b[p]! << 24) | (b[p + 1]! << 16) | (b[p + 2]! << 8) | b[p + 3]!
}

/** Exact within the safe integers; outside of them a value that is not safe either. */
export function int64(b: Uint8Array, p: number): number {
  return int32(b, p) * 0x100000000 + (int32(b, p + 4) >>> 0)
}

export function putInt16(b: Uint8Array, p: number, v: number): void {
  b[p] = v >> 8
  b[p + 1] = v
}

export function putInt32(b: Uint8Array, p: number, v: number): void {
  b[p] = v >> 24
  b[p + 1] = v >> 16
  b[p + 2] = v >> 8
  b[p + 3] = v
}

export function putInt64(b: Uint8Array, p: number, v: number): void {
  putInt32(b, p, Math.floor(v / 0x100000000))
  putInt32(b, p + 4, v >>> 0)
}

/** Bytes of a zigzag varint that holds `v` >= 0 (for which zigzag is doubling). */
export function varintSize(v: number): number {
  return v < 0x40 ? 1 : v < 0x2000 ? 2 : v < 0x100000 ? 3 : v < 0x8000000 ? 4 : 5
}

/** Bytes of a zigzag varint or varlong that holds `v`, of either sign. */
export function varlongSize(v: number): number {
  let rest = v < 0 ? -v - 1 : v
  if (rest < 0x8000000) return varintSize(rest)
  let size = 4
  for (rest = Math.floor(rest / 0x8000000); rest > 0; rest = Math.floor(rest / 128)) size++
  return size
}

/** Writes `v` >= 0 (to 2^31-1) as a zigzag varint and returns the position after it. */
export function putVarint(b: Uint8Array, p: number, v: number): number {
  if (v < 0x40) {
    b[p++] = v << 1
    return p
  }
  v <<= 1
  while (v & ~0x7f) {
    b[p++] = (v & 0x7f) | 0x80
    v >>>= 7
  }
  b[p++] = v
  return p
}

/** Writes any safe integer as a zigzag varlong and returns the position after it. */
export function putVarlong(b: Uint8Array, p: number, v: number): number {
  if (v >= 0 && v <= 0x7fffffff) return putVarint(b, p, v)
  // The lowest bit of the zigzag form is the sign; the rest is written seven bits at a time, the first time six.
  let rest = v < 0 ? -v - 1 : v
  let byte = ((rest % 64) << 1) | (v < 0 ? 1 : 0)
  rest = Math.floor(rest / 64)
  while (rest > 0) {
    b[p++] = byte | 0x80
    byte = rest % 128
    rest = Math.floor(rest / 128)
  }
  b[p++] = byte
  return p
}
