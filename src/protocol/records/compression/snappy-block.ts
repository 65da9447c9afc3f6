// One raw snappy block, both ways (format_description.txt of Google's snappy). A compressed block is a varint of the size of
// what comes out, then literals and copies.
import { corrupt } from './codec.js'

/** A copy of three bytes makes at most 64: no block can hold more than this many times its size. */
const maxExpansion = 22
/** Positions in the hash table are 16 bits: larger inputs are compressed in pieces that do not refer to each other. */
const fragmentSize = 1 << 16
const maxTableBits = 14
const hashTable = new Uint16Array(1 << maxTableBits)

export function maxSnappySize(bytes: number): number {
  return 32 + bytes + Math.ceil(bytes / 6)
}

/** The size that a block says it has, checked against what it could have. */
export function snappyBlockSize(bytes: Uint8Array, start: number, end: number): number {
  let size = 0
  for (let shift = 0, p = start; shift < 35 && p < end; shift += 7) {
    const byte = bytes[p++]!
    size += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) {
      if (size > (end - p) * maxExpansion)
        throw corrupt('snappy', `a block of ${end - start} bytes cannot hold ${size}`)
      return size
    }
  }
  throw corrupt('snappy', 'a block has no size')
}

export function decompressSnappyBlock(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  at: number,
  size: number,
): void {
  const outEnd = at + size
  let p = start
  let o = at
  while (bytes[p]! >= 0x80) p++
  p++
  while (p < end) {
    const tag = bytes[p++]!
    let length: number
    let offset: number
    switch (tag & 3) {
      case 0: {
        length = (tag >> 2) + 1
        if (length > 60) {
          const extra = length - 60
          if (p + extra > end) throw corrupt('snappy', 'a literal has no length')
          length = bytes[p]!
          if (extra > 1) length |= bytes[p + 1]! << 8
          if (extra > 2) length |= bytes[p + 2]! << 16
          if (extra > 3) length += bytes[p + 3]! * 0x1000000
          length++
          p += extra
        }
        if (length > end - p || length > outEnd - o) throw corrupt('snappy', 'a literal runs over the end')
        if (length > 48) out.set(bytes.subarray(p, p + length), o)
        else for (let i = 0; i < length; i++) out[o + i] = bytes[p + i]!
        p += length
        o += length
        continue
      }
      case 1:
        length = ((tag >> 2) & 7) + 4
        offset = ((tag >> 5) << 8) | bytes[p]!
        p++
        break
      case 2:
        length = (tag >> 2) + 1
        offset = bytes[p]! | (bytes[p + 1]! << 8)
        p += 2
        break
      default:
        length = (tag >> 2) + 1
        offset = (bytes[p]! | (bytes[p + 1]! << 8) | (bytes[p + 2]! << 16) | (bytes[p + 3]! << 24)) >>> 0
        p += 4
    }
    if (p > end || offset === 0 || offset > o - at) throw corrupt('snappy', 'a copy refers to what is not there')
    if (length > outEnd - o) throw corrupt('snappy', 'a copy runs over the end')
    const from = o - offset
    for (let i = 0; i < length; i++) out[o + i] = out[from + i]!
    o += length
  }
  if (o !== outEnd) throw corrupt('snappy', `a block of ${size} bytes gave ${o - at}`)
}

/** Compresses `bytes[start..end)` to `out` at `p`, where there must be room for {@link maxSnappySize}; returns its end. */
export function compressSnappyBlock(bytes: Uint8Array, start: number, end: number, out: Uint8Array, p: number): number {
  let size = end - start
  while (size >= 0x80) {
    out[p++] = (size & 0x7f) | 0x80
    size >>>= 7
  }
  out[p++] = size
  for (let from = start; from < end; from += fragmentSize) {
    p = compressFragment(bytes, from, Math.min(end, from + fragmentSize), out, p)
  }
  return p
}

function load32(b: Uint8Array, i: number): number {
  return b[i]! | (b[i + 1]! << 8) | (b[i + 2]! << 16) | (b[i + 3]! << 24)
}

function compressFragment(b: Uint8Array, start: number, end: number, out: Uint8Array, p: number): number {
  let bits = 8
  while (bits < maxTableBits && 1 << bits < end - start) bits++
  const shift = 32 - bits
  hashTable.fill(0, 0, 1 << bits)
  // No match begins in the last 15 bytes, so that four bytes can always be loaded.
  const limit = end - 15
  let literal = start
  let i = start + 1
  let misses = 32
  while (i < limit) {
    const word = load32(b, i)
    const slot = Math.imul(word, 0x1e35a7bd) >>> shift
    const candidate = start + hashTable[slot]!
    hashTable[slot] = i - start
    if (load32(b, candidate) !== word) {
      // The longer nothing matches, the larger the steps: incompressible data passes quickly.
      i += misses++ >> 5
      continue
    }
    misses = 32
    p = putLiteral(b, literal, i, out, p)
    let length = 4
    while (i + length < end && b[candidate + length] === b[i + length]) length++
    p = putCopy(i - candidate, length, out, p)
    i += length
    literal = i
    if (i < limit) hashTable[Math.imul(load32(b, i - 1), 0x1e35a7bd) >>> shift] = i - 1 - start
  }
  return putLiteral(b, literal, end, out, p)
}

function putLiteral(b: Uint8Array, from: number, to: number, out: Uint8Array, p: number): number {
  const length = to - from
  if (length === 0) return p
  const n = length - 1
  if (n < 60) out[p++] = n << 2
  else if (n < 0x100) {
    out[p++] = 60 << 2
    out[p++] = n
  } else {
    out[p++] = 61 << 2
    out[p++] = n
    out[p++] = n >> 8
  }
  if (length > 48) out.set(b.subarray(from, to), p)
  else for (let i = 0; i < length; i++) out[p + i] = b[from + i]!
  return p + length
}

function putCopy(offset: number, length: number, out: Uint8Array, p: number): number {
  while (length >= 68) {
    p = putLongCopy(offset, 64, out, p)
    length -= 64
  }
  if (length > 64) {
    p = putLongCopy(offset, 60, out, p)
    length -= 60
  }
  if (length >= 12 || offset >= 2048) return putLongCopy(offset, length, out, p)
  out[p++] = ((offset >> 8) << 5) | ((length - 4) << 2) | 1
  out[p++] = offset
  return p
}

function putLongCopy(offset: number, length: number, out: Uint8Array, p: number): number {
  out[p++] = ((length - 1) << 2) | 2
  out[p++] = offset
  out[p++] = offset >> 8
  return p
}
