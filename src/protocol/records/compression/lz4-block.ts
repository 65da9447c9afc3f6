// One lz4 block, both ways (lz4_Block_format.md): sequences of literals and a match, the last one literals only.
import { corrupt } from './codec.js'

const maxTableBits = 14
const hashTable = new Int32Array(1 << maxTableBits)
/** The format wants the last five bytes as literals, and no match that begins in the last twelve. */
const lastLiterals = 5
const matchLimit = 12
const minMatch = 4
const maxDistance = 0xffff

export function maxLz4BlockSize(bytes: number): number {
  return bytes + Math.ceil(bytes / 255) + 16
}

function load32(b: Uint8Array, i: number): number {
  return b[i]! | (b[i + 1]! << 8) | (b[i + 2]! << 16) | (b[i + 3]! << 24)
}

/**
 * Compresses `b[start..end)`, a piece of an input of `b.length` bytes, to `out` at `p` and returns its end. Blocks do not refer
 * to each other (Java's reader wants that), but the table of the input's earlier blocks may stay; `start` 0 clears it.
 */
export function compressLz4Block(b: Uint8Array, start: number, end: number, out: Uint8Array, p: number): number {
  let bits = 10
  while (bits < maxTableBits && 1 << bits < b.length) bits++
  // Positions count from 1, so that 0 is an empty slot.
  if (start === 0) hashTable.fill(0, 0, 1 << bits)
  const shift = 32 - bits
  const limit = end - matchLimit
  const matchEnd = end - lastLiterals
  let literal = start
  let i = start
  let misses = 64
  while (i < limit) {
    const word = load32(b, i)
    const slot = Math.imul(word, 0x9e3779b1) >>> shift
    const candidate = hashTable[slot]! - 1
    hashTable[slot] = i + 1
    if (candidate < start || i - candidate > maxDistance || load32(b, candidate) !== word) {
      i += misses++ >> 6
      continue
    }
    misses = 64
    let length = minMatch
    while (i + length < matchEnd && b[candidate + length] === b[i + length]) length++
    const literals = i - literal
    const tag = p++
    const extra = length - minMatch
    out[tag] = (literals < 15 ? literals << 4 : 0xf0) | (extra < 15 ? extra : 15)
    if (literals >= 15) p = putLength(out, p, literals - 15)
    p = putLiterals(b, literal, i, out, p)
    out[p++] = i - candidate
    out[p++] = (i - candidate) >> 8
    if (extra >= 15) p = putLength(out, p, extra - 15)
    i += length
    literal = i
    if (i < limit) hashTable[Math.imul(load32(b, i - 2), 0x9e3779b1) >>> shift] = i - 1
  }
  const literals = end - literal
  out[p++] = literals < 15 ? literals << 4 : 0xf0
  if (literals >= 15) p = putLength(out, p, literals - 15)
  return putLiterals(b, literal, end, out, p)
}

function putLength(out: Uint8Array, p: number, rest: number): number {
  while (rest >= 255) {
    out[p++] = 255
    rest -= 255
  }
  out[p++] = rest
  return p
}

function putLiterals(b: Uint8Array, from: number, to: number, out: Uint8Array, p: number): number {
  const length = to - from
  if (length > 48) out.set(b.subarray(from, to), p)
  else for (let i = 0; i < length; i++) out[p + i] = b[from + i]!
  return p + length
}

/**
 * Decompresses `b[start..end)` to `out[at..outEnd)` and returns where it ends, or -1 if there is not enough room. Matches may
 * reach back to `historyStart`.
 */
export function decompressLz4Block(
  b: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  at: number,
  outEnd: number,
  historyStart: number,
): number {
  let p = start
  let o = at
  while (p < end) {
    const tag = b[p++]!
    let length = tag >> 4
    if (length === 15) {
      let byte: number
      do {
        if (p >= end) throw corrupt('lz4', 'a block ends within a length')
        byte = b[p++]!
        length += byte
      } while (byte === 255)
    }
    if (length > 0) {
      if (length > end - p) throw corrupt('lz4', 'literals run over the end of their block')
      if (length > outEnd - o) return -1
      if (length > 48) out.set(b.subarray(p, p + length), o)
      else for (let i = 0; i < length; i++) out[o + i] = b[p + i]!
      p += length
      o += length
    }
    if (p === end) return o
    if (p + 2 > end) throw corrupt('lz4', 'a block ends within a match')
    const distance = b[p]! | (b[p + 1]! << 8)
    p += 2
    const from = o - distance
    if (distance === 0 || from < historyStart) throw corrupt('lz4', 'a match refers to what is not there')
    length = tag & 15
    if (length === 15) {
      let byte: number
      do {
        if (p >= end) throw corrupt('lz4', 'a block ends within a length')
        byte = b[p++]!
        length += byte
      } while (byte === 255)
    }
    length += minMatch
    if (length > outEnd - o) return -1
    if (length > 48 && distance >= length) out.copyWithin(o, from, from + length)
    else if (length > 48 && distance === 1) out.fill(out[from]!, o, o + length)
    else for (let i = 0; i < length; i++) out[o + i] = out[from + i]!
    o += length
  }
  throw corrupt('lz4', 'a block ends with a match')
}
