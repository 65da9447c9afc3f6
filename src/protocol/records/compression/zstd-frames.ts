// The outer shape of zstd data (RFC 8878): where frames begin and end and how much they can hold at most, told from frame and
// block headers alone. So a bomb is refused before anything is decoded, and no decoder is led to allocate what a header says.
import { corrupt, tooLarge } from './codec.js'

const frameMagic = 0xfd2fb528
const skippableMagic = 0x184d2a50
const maxBlockSize = 128 << 10

export interface ZstdFrame {
  readonly start: number
  readonly end: number
  /** Where its first block begins. */
  readonly blocksAt: number
  /** What comes out is not more than this; and not less than `atLeast`. */
  readonly atMost: number
  readonly atLeast: number
  readonly contentSize: number | null
  /** A frame without window descriptor has its content size as window. */
  readonly windowSize: number
  readonly hasWindow: boolean
}

/** All frames of the data, in order, without the skippable ones; none of them can give more than `maxBytes` together. */
export function zstdFrames(input: Buffer, maxBytes: number): ZstdFrame[] {
  const frames: ZstdFrame[] = []
  let least = 0
  for (let p = 0; p < input.length;) {
    if (input.length - p < 8) throw corrupt('zstd', 'a frame is cut short')
    const magic = input.readUInt32LE(p)
    if ((magic & 0xfffffff0) >>> 0 === skippableMagic) {
      p += 8 + input.readUInt32LE(p + 4)
      if (p > input.length) throw corrupt('zstd', 'a skippable frame is cut short')
      continue
    }
    if (magic !== frameMagic) throw corrupt('zstd', `no frame begins with ${magic.toString(16)}`)
    const frame = readFrame(input, p)
    least += frame.atLeast
    if (least > maxBytes) throw tooLarge('zstd', maxBytes)
    frames.push(frame)
    p = frame.end
  }
  if (frames.length === 0) throw corrupt('zstd', 'there is no frame')
  return frames
}

function readFrame(input: Buffer, start: number): ZstdFrame {
  const descriptor = input[start + 4]!
  if (descriptor & 0x08) throw corrupt('zstd', 'a reserved bit of a frame is set')
  const isSingleSegment = (descriptor & 0x20) !== 0
  const dictionarySize = [0, 1, 2, 4][descriptor & 3]!
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  const windowAt = start + 5
  const sizeAt = windowAt + (isSingleSegment ? 0 : 1) + dictionarySize
  let p = sizeAt + sizeBytes
  if (p > input.length) throw corrupt('zstd', 'a frame header is cut short')
  for (let i = sizeAt - dictionarySize; i < sizeAt; i++) {
    if (input[i] !== 0) throw corrupt('zstd', 'a frame needs a dictionary')
  }
  const contentSize = sizeBytes === 0 ? null : readContentSize(input, sizeAt, sizeBytes)
  const windowBase = 2 ** (10 + (input[windowAt]! >> 3))
  const windowSize = isSingleSegment ? contentSize! : windowBase + (windowBase / 8) * (input[windowAt]! & 7)
  const blocksAt = p
  let atMost = 0
  let known = 0
  for (let isLast = false; !isLast;) {
    if (p + 3 > input.length) throw corrupt('zstd', 'a frame has no last block')
    const header = input.readUIntLE(p, 3)
    const type = (header >> 1) & 3
    const size = header >> 3
    isLast = (header & 1) !== 0
    p += 3
    if (size > maxBlockSize || type === 3) throw corrupt('zstd', `a block has type ${type} and length ${size}`)
    if (type === 2) atMost += maxBlockSize
    else {
      atMost += size
      known += size
    }
    p += type === 1 ? 1 : size
    if (p > input.length) throw corrupt('zstd', 'a block is cut short')
  }
  if (descriptor & 0x04) p += 4
  if (p > input.length) throw corrupt('zstd', 'the checksum of a frame is cut short')
  if (contentSize !== null && (contentSize > atMost || contentSize < known)) {
    throw corrupt('zstd', `a frame cannot hold ${contentSize} bytes`)
  }
  const atLeast = contentSize ?? known
  return {
    start,
    end: p,
    blocksAt,
    atMost: contentSize ?? atMost,
    atLeast,
    contentSize,
    windowSize,
    hasWindow: !isSingleSegment,
  }
}

function readContentSize(input: Buffer, at: number, bytes: number): number {
  if (bytes === 8) return input.readUInt32LE(at) + input.readUInt32LE(at + 4) * 0x100000000
  const size = input.readUIntLE(at, bytes)
  return bytes === 2 ? size + 256 : size
}

/**
 * The bytes of one frame. Where its window is larger than anything it can refer to, the window is made smaller, so that a
 * few bytes cannot ask for gigabytes.
 */
export function zstdFrameBytes(input: Buffer, frame: ZstdFrame, maxBytes: number): Buffer {
  const bytes = input.subarray(frame.start, frame.end)
  const enough = Math.max(Math.min(frame.atMost, maxBytes), maxBlockSize)
  if (!frame.hasWindow || frame.windowSize <= enough * 2) return bytes
  const exponent = Math.ceil(Math.log2(enough)) - 10
  const copy = Buffer.from(bytes)
  copy[5] = exponent << 3
  return copy
}
