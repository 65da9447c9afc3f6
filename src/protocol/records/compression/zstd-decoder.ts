// Decodes zstd frames (RFC 8878) where node:zlib cannot: every length, offset and table is checked before it is used, so that
// no input takes longer or gives more than its size allows. Content checksums are not looked at: the batch's CRC covers them.
import { corrupt, type BoundedOutput } from './codec.js'
import {
  backwardStart,
  bitsAt,
  buildFseTable,
  readFseTable,
  readHuffmanTable,
  rleTable,
  type FseTable,
  type HuffmanTable,
  type Parsed,
} from './zstd-fse.js'

const maxBlockSize = 128 << 10

/** Extra bits of each code, and the value they are added to. */
interface Codes {
  readonly bits: Uint8Array
  readonly bases: Uint32Array
  readonly maxLog: number
  readonly predefined: FseTable
}

function codesOf(first: number, plain: number, extra: readonly number[], maxLog: number, predefined: FseTable): Codes {
  const bits = Uint8Array.from([...new Array<number>(plain).fill(0), ...extra])
  const bases = new Uint32Array(bits.length)
  for (let code = 0, base = first; code < bits.length; code++) {
    bases[code] = base
    base += 2 ** bits[code]!
  }
  return { bits, bases, maxLog, predefined }
}

const literalLengths = codesOf(
  0,
  16,
  [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
  9,
  buildFseTable(
    [4, 3, ...Array<number>(11).fill(2), 1, 1, 1, ...Array<number>(9).fill(2), 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
    6,
  ),
)
const matchLengths = codesOf(
  3,
  32,
  [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
  9,
  buildFseTable([1, 4, 3, 2, 2, 2, 2, 2, 2, ...Array<number>(37).fill(1), ...Array<number>(7).fill(-1)], 6),
)
/** An offset's code is the number of its extra bits. */
const offsets = codesOf(
  1,
  1,
  Array.from({ length: 31 }, (_, i) => i + 1),
  8,
  buildFseTable([1, 1, 1, 1, 1, 1, 2, 2, 2, ...Array<number>(15).fill(1), ...Array<number>(5).fill(-1)], 5),
)

/** What blocks of a frame hand on to the next. */
interface FrameState {
  huffman: HuffmanTable | null
  literalLength: FseTable | null
  offset: FseTable | null
  matchLength: FseTable | null
  readonly repeated: Uint32Array
  readonly start: number
}

/** Literals of the block at hand. */
const literals = Buffer.allocUnsafeSlow(maxBlockSize)

/** Decodes one frame, whose header and block headers were checked, to the end of `out`. */
export function decodeZstdFrame(frame: Buffer, blocksAt: number, out: BoundedOutput): void {
  // Bits are loaded four bytes at a time, and so a little beyond the end.
  const b = Buffer.alloc(frame.length + 8)
  b.set(frame)
  const repeated = Uint32Array.of(1, 4, 8)
  const state: FrameState = {
    huffman: null,
    literalLength: null,
    offset: null,
    matchLength: null,
    repeated,
    start: out.length,
  }
  for (let p = blocksAt, isLast = false; !isLast;) {
    const header = b.readUIntLE(p, 3)
    isLast = (header & 1) !== 0
    const type = (header >> 1) & 3
    const size = header >> 3
    p += 3
    if (type === 0) out.append(b.subarray(p, p + size))
    else if (type === 1) out.fill(b[p]!, size)
    else decodeBlock(b, p, p + size, state, out)
    p += type === 1 ? 1 : size
  }
}

function decodeBlock(b: Buffer, start: number, end: number, state: FrameState, out: BoundedOutput): void {
  const { value: literalCount, end: sequencesAt } = readLiterals(b, start, end, state)
  if (sequencesAt >= end) throw corrupt('zstd', 'a block has no sequences')
  let p = sequencesAt
  let count = b[p++]!
  if (count === 255) {
    count = b[p]! + (b[p + 1]! << 8) + 0x7f00
    p += 2
  } else if (count >= 128) count = ((count - 128) << 8) + b[p++]!
  if (count === 0) {
    if (p !== end) throw corrupt('zstd', 'a block has bytes after its literals')
    out.append(literals.subarray(0, literalCount))
    return
  }
  const modes = b[p++]!
  if (modes & 3) throw corrupt('zstd', 'a reserved bit of a block is set')
  const ll = readTable(b, p, end, modes >> 6, literalLengths, state.literalLength)
  const of = readTable(b, ll.end, end, (modes >> 4) & 3, offsets, state.offset)
  const ml = readTable(b, of.end, end, (modes >> 2) & 3, matchLengths, state.matchLength)
  state.literalLength = ll.value
  state.offset = of.value
  state.matchLength = ml.value
  executeSequences(b, ml.end, end, count, literalCount, state, out)
}

function readTable(
  b: Buffer,
  p: number,
  end: number,
  mode: number,
  { bits, maxLog, predefined }: Codes,
  last: FseTable | null,
): Parsed<FseTable> {
  if (mode === 0) return { value: predefined, end: p }
  if (mode === 2) return readFseTable(b, p, end, maxLog, bits.length - 1)
  if (mode === 1) {
    if (p >= end || b[p]! >= bits.length) throw corrupt('zstd', 'a table has an unknown symbol')
    return { value: rleTable(b[p]!), end: p + 1 }
  }
  if (last === null) throw corrupt('zstd', 'a block repeats a table that is not there')
  return { value: last, end: p }
}

/** Fills {@link literals}; gives their number and where the sequences begin. */
function readLiterals(b: Buffer, start: number, end: number, state: FrameState): Parsed<number> {
  if (end - start < 2) throw corrupt('zstd', 'a block is too short')
  const type = b[start]! & 3
  const format = (b[start]! >> 2) & 3
  if (type < 2) {
    const headerSize = format === 1 ? 2 : format === 3 ? 3 : 1
    const size = b.readUIntLE(start, 3) & (2 ** (8 * headerSize) - 1)
    const count = size >> (headerSize === 1 ? 3 : 4)
    const at = start + headerSize
    const after = at + (type === 0 ? count : 1)
    if (count > maxBlockSize || after > end) throw corrupt('zstd', 'literals are cut short')
    if (type === 0) b.copy(literals, 0, at, after)
    else literals.fill(b[at]!, 0, count)
    return { value: count, end: after }
  }
  const headerSize = format < 2 ? 3 : format + 2
  const width = [10, 10, 14, 18][format]!
  const count = bitsAt(b, start * 8 + 4, width)
  const compressed = bitsAt(b, start * 8 + 4 + width, width)
  let p = start + headerSize
  const after = p + compressed
  if (count > maxBlockSize || after > end) throw corrupt('zstd', 'literals are cut short')
  if (type === 2) {
    const table = readHuffmanTable(b, p, after)
    state.huffman = table.value
    p = table.end
  }
  const { huffman } = state
  if (huffman === null) throw corrupt('zstd', 'a block repeats a Huffman table that is not there')
  if (format === 0) decodeHuffman(b, p, after, huffman, 0, count)
  else {
    const each = (count + 3) >> 2
    if (p + 6 > after || each * 3 > count) throw corrupt('zstd', 'literals have no four streams')
    let from = p + 6
    for (let i = 0; i < 4; i++) {
      const to = i === 3 ? after : from + b.readUInt16LE(p + 2 * i)
      if (to > after) throw corrupt('zstd', 'a stream of literals is cut short')
      decodeHuffman(b, from, to, huffman, i * each, i === 3 ? count : (i + 1) * each)
      from = to
    }
  }
  return { value: count, end: after }
}

function decodeHuffman(b: Buffer, start: number, end: number, table: HuffmanTable, from: number, to: number): void {
  const { codes, log } = table
  const mask = (1 << log) - 1
  const first = start * 8
  let position = backwardStart(b, start, end)
  let o = from
  while (o < to && position - log >= first) {
    const at = position - log
    const i = at >> 3
    const entry = codes[((b[i]! | (b[i + 1]! << 8) | (b[i + 2]! << 16)) >> (at & 7)) & mask]!
    literals[o++] = entry
    position -= entry >> 8
  }
  // The last codes may be shorter than what is looked at: zeros come after them.
  while (o < to) {
    const left = position - first
    const entry = codes[left >= log ? bitsAt(b, position - log, log) : (bitsAt(b, first, left) << (log - left)) & mask]!
    literals[o++] = entry
    position -= entry >> 8
    if (position < first) throw corrupt('zstd', 'a stream of literals is cut short')
  }
  if (position !== first) throw corrupt('zstd', 'a stream of literals is too long')
}

function executeSequences(
  b: Buffer,
  start: number,
  end: number,
  count: number,
  literalCount: number,
  state: FrameState,
  out: BoundedOutput,
): void {
  const first = start * 8
  const llStates = state.literalLength!.states
  const ofStates = state.offset!.states
  const mlStates = state.matchLength!.states
  const { repeated } = state
  let position = backwardStart(b, start, end)
  const take = (bits: number): number => {
    position -= bits
    if (position < first) throw corrupt('zstd', 'sequences are cut short')
    return bitsAt(b, position, bits)
  }
  let llState = take(state.literalLength!.log)
  let ofState = take(state.offset!.log)
  let mlState = take(state.matchLength!.log)
  const blockStart = out.length
  let buffer = out.buffer
  let o = blockStart
  let literal = 0
  for (let left = count; left > 0; left--) {
    const ll = llStates[llState]!
    const of = ofStates[ofState]!
    const ml = mlStates[mlState]!
    const offsetBits = of & 255
    let value = offsets.bases[offsetBits]!
    if (offsetBits > 16) value += take(offsetBits - 16) * 0x10000
    if (offsetBits > 0) value += take(Math.min(16, offsetBits))
    const matchLength = matchLengths.bases[ml & 255]! + take(matchLengths.bits[ml & 255]!)
    const literalLength = literalLengths.bases[ll & 255]! + take(literalLengths.bits[ll & 255]!)
    if (left > 1) {
      llState = (ll >>> 16) + take((ll >> 8) & 255)
      mlState = (ml >>> 16) + take((ml >> 8) & 255)
      ofState = (of >>> 16) + take((of >> 8) & 255)
    }
    const offset = value > 3 ? newOffset(repeated, value - 3) : repeatedOffset(repeated, value, literalLength)

    const next = o + literalLength + matchLength
    if (literalLength > literalCount - literal) throw corrupt('zstd', 'a sequence has more literals than there are')
    if (next - blockStart > maxBlockSize) throw corrupt('zstd', 'a block is too large')
    if (next > buffer.length) {
      out.length = o
      out.reserve(next - o)
      buffer = out.buffer
      if (next > buffer.length) throw out.tooLarge()
    }
    if (literalLength > 48) literals.copy(buffer, o, literal, literal + literalLength)
    else for (let i = 0; i < literalLength; i++) buffer[o + i] = literals[literal + i]!
    literal += literalLength
    o += literalLength
    const from = o - offset
    if (from < state.start) throw corrupt('zstd', 'a match refers to what is not there')
    if (matchLength > 48 && offset >= matchLength) buffer.copyWithin(o, from, from + matchLength)
    else for (let i = 0; i < matchLength; i++) buffer[o + i] = buffer[from + i]!
    o = next
  }
  if (position !== first) throw corrupt('zstd', 'sequences are too long')
  out.length = o
  if (o + literalCount - literal - blockStart > maxBlockSize) throw corrupt('zstd', 'a block is too large')
  out.append(literals.subarray(literal, literalCount))
}

function newOffset(repeated: Uint32Array, offset: number): number {
  repeated[2] = repeated[1]!
  repeated[1] = repeated[0]!
  repeated[0] = offset
  return offset
}

/** Values 1 to 3 stand for the last three offsets; without literals before it, a sequence means the ones after them. */
function repeatedOffset(repeated: Uint32Array, value: number, literalLength: number): number {
  const index = literalLength === 0 ? value : value - 1
  if (index === 0) return repeated[0]!
  const offset = index === 3 ? repeated[0]! - 1 : repeated[index]!
  if (offset === 0) throw corrupt('zstd', 'a match has no offset')
  if (index !== 1) repeated[2] = repeated[1]!
  repeated[1] = repeated[0]!
  repeated[0] = offset
  return offset
}
