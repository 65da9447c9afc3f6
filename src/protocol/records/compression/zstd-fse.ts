// The entropy tables of zstd (RFC 8878, 4.1 and 4.2): FSE tables for sequences and Huffman weights, and Huffman tables for literals.
import { corrupt } from './codec.js'

/** One number per state: symbol, bits to read (from bit 8), base of the next state (from bit 16). */
export interface FseTable {
  readonly log: number
  readonly states: Uint32Array
}

/** One number per code of `log` bits: symbol, and how many of the bits are its (from bit 8). */
export interface HuffmanTable {
  readonly log: number
  readonly codes: Uint16Array
}

/** What was read, and where the bytes after it begin. */
export interface Parsed<T> {
  readonly value: T
  readonly end: number
}

const maxWeightLog = 6
const maxHuffmanLog = 11

export function highestBit(v: number): number {
  return 31 - Math.clz32(v)
}

/** Up to 24 bits of a little-endian stream at a bit position; bits after the end are zero. */
export function bitsAt(b: Uint8Array, position: number, count: number): number {
  const i = position >> 3
  return ((b[i]! | (b[i + 1]! << 8) | (b[i + 2]! << 16) | (b[i + 3]! << 24)) >>> (position & 7)) & ((1 << count) - 1)
}

/** The bit position where a stream that is read backwards begins: below the highest bit set, which marks it. */
export function backwardStart(b: Uint8Array, start: number, end: number): number {
  const last = end > start ? b[end - 1]! : 0
  if (last === 0) throw corrupt('zstd', 'a bit stream has no beginning')
  return (end - 1) * 8 + highestBit(last)
}

export function rleTable(symbol: number): FseTable {
  return { log: 0, states: Uint32Array.of(symbol) }
}

export function readFseTable(
  b: Uint8Array,
  start: number,
  end: number,
  maxLog: number,
  maxSymbol: number,
): Parsed<FseTable> {
  if (start >= end) throw corrupt('zstd', 'a table is missing')
  const log = (b[start]! & 15) + 5
  if (log > maxLog) throw corrupt('zstd', `a table has ${log} bits`)
  const counts: number[] = []
  let left = 1 << log
  let position = start * 8 + 4
  while (left > 0) {
    if (counts.length > maxSymbol || position > end * 8) throw corrupt('zstd', 'a table has too many symbols')
    // Values below `few` need one bit less than the others.
    const width = highestBit(left + 1) + 1
    const low = (1 << (width - 1)) - 1
    const few = (1 << width) - 2 - left
    let value = bitsAt(b, position, width)
    if ((value & low) < few) {
      value &= low
      position += width - 1
    } else {
      if (value > low) value -= few
      position += width
    }
    const count = value - 1
    left -= Math.abs(count)
    counts.push(count)
    if (count !== 0) continue
    for (let repeat = 3; repeat === 3;) {
      repeat = bitsAt(b, position, 2)
      position += 2
      for (let i = 0; i < repeat; i++) counts.push(0)
      if (counts.length > maxSymbol + 1) throw corrupt('zstd', 'a table has too many symbols')
    }
  }
  const after = (position + 7) >> 3
  if (left < 0 || after > end) throw corrupt('zstd', 'a table is cut short')
  return { value: buildFseTable(counts, log), end: after }
}

/** `counts`: states per symbol, of 2^log in all; -1 for less than one. */
export function buildFseTable(counts: readonly number[], log: number): FseTable {
  const size = 1 << log
  const states = new Uint32Array(size)
  const next = new Uint16Array(counts.length)
  let high = size
  counts.forEach((count, symbol) => {
    if (count !== -1) return
    states[--high] = symbol
    next[symbol] = 1
  })
  const step = (size >> 1) + (size >> 3) + 3
  let at = 0
  counts.forEach((count, symbol) => {
    if (count <= 0) return
    next[symbol] = count
    for (let i = 0; i < count; i++) {
      states[at] = symbol
      do at = (at + step) & (size - 1)
      while (at >= high)
    }
  })
  for (let i = 0; i < size; i++) {
    const symbol = states[i]!
    const state = next[symbol]!
    next[symbol] = state + 1
    const bits = log - highestBit(state)
    states[i] = symbol | (bits << 8) | (((state << bits) - size) << 16)
  }
  return { log, states }
}

export function readHuffmanTable(b: Uint8Array, start: number, end: number): Parsed<HuffmanTable> {
  if (start >= end) throw corrupt('zstd', 'a Huffman table is missing')
  const header = b[start]!
  const weights = new Uint8Array(256)
  let count: number
  let after: number
  if (header >= 128) {
    count = header - 127
    after = start + 1 + ((count + 1) >> 1)
    for (let i = 0; i < count; i++) {
      const byte = b[start + 1 + (i >> 1)]!
      weights[i] = i & 1 ? byte & 15 : byte >> 4
    }
  } else {
    after = start + 1 + header
    count = after <= end ? readWeights(b, start + 1, after, weights) : 0
  }
  if (after > end) throw corrupt('zstd', 'a Huffman table is cut short')
  return { value: buildHuffmanTable(weights, count), end: after }
}

/** Weights as two FSE states that take turns, until their stream is used up. */
function readWeights(b: Uint8Array, start: number, end: number, weights: Uint8Array): number {
  const { value: table, end: streamStart } = readFseTable(b, start, end, maxWeightLog, 255)
  const { states, log } = table
  const first = streamStart * 8
  let position = backwardStart(b, streamStart, end) - 2 * log
  if (position < first) throw corrupt('zstd', 'Huffman weights are cut short')
  let state = bitsAt(b, position + log, log)
  let other = bitsAt(b, position, log)
  let count = 0
  for (;;) {
    const entry = states[state]!
    if (count >= 254) throw corrupt('zstd', 'there are too many Huffman weights')
    weights[count++] = entry & 255
    const bits = (entry >> 8) & 255
    position -= bits
    if (position < first) {
      weights[count++] = states[other]! & 255
      return count
    }
    state = other
    other = (entry >>> 16) + bitsAt(b, position, bits)
  }
}

function buildHuffmanTable(weights: Uint8Array, count: number): HuffmanTable {
  let sum = 0
  for (let i = 0; i < count; i++) {
    if (weights[i]! > maxHuffmanLog) throw corrupt('zstd', 'a Huffman weight is too large')
    if (weights[i]! > 0) sum += 1 << (weights[i]! - 1)
  }
  if (sum === 0) throw corrupt('zstd', 'a Huffman table is empty')
  const log = highestBit(sum) + 1
  const left = (1 << log) - sum
  // The last weight is not written: it is what makes the sum a power of two.
  if (log > maxHuffmanLog || (left & (left - 1)) !== 0) throw corrupt('zstd', 'a Huffman table does not add up')
  weights[count] = highestBit(left) + 1
  const codes = new Uint16Array(1 << log)
  let at = 0
  for (let weight = 1; weight <= log; weight++) {
    const entry = (log + 1 - weight) << 8
    const width = 1 << (weight - 1)
    for (let symbol = 0; symbol <= count; symbol++) {
      if (weights[symbol] !== weight) continue
      codes.fill(entry | symbol, at, at + width)
      at += width
    }
  }
  return { log, codes }
}
