// lz4 frames (lz4_Frame_format.md). Reads several frames, skippable ones, linked and uncompressed blocks, all checksums; writes
// what Java does: one frame of independent blocks of 64 KiB.
import { loadPeer } from '../native-peer.js'
import { BoundedOutput, corrupt, type Codec } from './codec.js'
import { compressLz4Block, decompressLz4Block, maxLz4BlockSize } from './lz4-block.js'
import { xxhash32 } from './xxhash32.js'

const frameMagic = 0x184d2204
const skippableMagic = 0x184d2a50
const uncompressedBit = 0x80000000
const blockSize = 64 << 10
/** No lz4 block grows by more than this. */
const maxExpansion = 255
const usualExpansion = 4

const independentFlag = 0x20
const blockChecksumFlag = 0x10
const contentSizeFlag = 0x08
const contentChecksumFlag = 0x04
const reservedFlag = 0x02
const dictionaryFlag = 0x01

interface NativeLz4 {
  compressFrameSync(bytes: Buffer): Buffer
}

let native: NativeLz4 | null | undefined
const nativeFromBytes = 1024

function loadNative(): NativeLz4 | null {
  const peer = loadPeer<Partial<NativeLz4>>('lz4-napi')
  if (typeof peer?.compressFrameSync !== 'function') return null
  const sample = Buffer.from('ottla '.repeat(20))
  try {
    const frame = peer.compressFrameSync(sample)
    // Java cannot read linked blocks.
    const isUsable = (frame[4]! & independentFlag) !== 0 && decompress(frame, sample.length).equals(sample)
    return isUsable ? (peer as NativeLz4) : null
  } catch {
    return null
  }
}

function compress(bytes: Uint8Array): Buffer {
  if (bytes.length >= nativeFromBytes) {
    if (native === undefined) native = loadNative()
    if (native !== null) return native.compressFrameSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  }
  const blocks = Math.ceil(bytes.length / blockSize)
  const out = Buffer.allocUnsafeSlow(7 + blocks * 4 + maxLz4BlockSize(bytes.length) + blocks * 16 + 4)
  out.writeUInt32LE(frameMagic, 0)
  out[4] = 0x40 | independentFlag
  out[5] = 4 << 4 // blocks of 64 KiB
  out[6] = (xxhash32(out, 4, 6) >>> 8) & 0xff
  let p = 7
  for (let start = 0; start < bytes.length; start += blockSize) {
    const end = Math.min(bytes.length, start + blockSize)
    const blockEnd = compressLz4Block(bytes, start, end, out, p + 4)
    if (blockEnd - p - 4 < end - start) {
      out.writeUInt32LE(blockEnd - p - 4, p)
      p = blockEnd
    } else {
      out.writeUInt32LE((uncompressedBit | (end - start)) >>> 0, p)
      out.set(bytes.subarray(start, end), p + 4)
      p += 4 + end - start
    }
  }
  out.writeUInt32LE(0, p)
  return out.subarray(0, p + 4)
}

function decompress(bytes: Uint8Array, maxBytes: number): Buffer {
  const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const out = new BoundedOutput('lz4', maxBytes, 0)
  if (input.length === 0) throw corrupt('lz4', 'there is no frame')
  for (let p = 0; p < input.length;) {
    if (input.length - p < 8) throw corrupt('lz4', 'bytes after the last frame')
    const magic = input.readUInt32LE(p)
    if ((magic & 0xfffffff0) >>> 0 === skippableMagic) {
      p += 8 + input.readUInt32LE(p + 4)
      if (p > input.length) throw corrupt('lz4', 'a skippable frame is cut short')
    } else if (magic === frameMagic) p = decompressFrame(input, p, out)
    else throw corrupt('lz4', `no frame begins with ${magic.toString(16)}`)
  }
  return out.finish()
}

interface FrameHeader {
  readonly flags: number
  readonly maxBlockSize: number
  readonly contentSize: number | null
  readonly end: number
}

function readFrameHeader(input: Buffer, start: number): FrameHeader {
  const flags = input[start + 4]!
  const sizeCode = (input[start + 5]! >> 4) & 7
  const end = start + 7 + (flags & contentSizeFlag ? 8 : 0) + (flags & dictionaryFlag ? 4 : 0)
  if (end > input.length) throw corrupt('lz4', 'a frame is cut short')
  if (flags >> 6 !== 1 || (flags & reservedFlag) !== 0)
    throw corrupt('lz4', `a frame has the flags ${flags.toString(16)}`)
  if (sizeCode < 4 || (input[start + 5]! & 0x8f) !== 0) throw corrupt('lz4', 'a frame has an unknown block size')
  if (((xxhash32(input, start + 4, end - 1) >>> 8) & 0xff) !== input[end - 1]) {
    throw corrupt('lz4', 'the checksum of a frame header does not match')
  }
  if (flags & dictionaryFlag) throw corrupt('lz4', 'a frame needs a dictionary')
  const contentSize =
    flags & contentSizeFlag ? input.readUInt32LE(start + 6) + input.readUInt32LE(start + 10) * 0x100000000 : null
  return { flags, maxBlockSize: 1 << (8 + 2 * sizeCode), contentSize, end }
}

function decompressFrame(input: Buffer, start: number, out: BoundedOutput): number {
  const { flags, maxBlockSize, contentSize, end } = readFrameHeader(input, start)
  const frameStart = out.length
  if (contentSize !== null) {
    if (contentSize > out.maxBytes - out.length) throw out.tooLarge()
    if (contentSize > (input.length - end) * maxExpansion)
      throw corrupt('lz4', `a frame cannot hold ${contentSize} bytes`)
    out.reserve(contentSize)
  }
  let p = end
  for (;;) {
    if (p + 4 > input.length) throw corrupt('lz4', 'a frame has no end')
    const word = input.readUInt32LE(p)
    p += 4
    if (word === 0) break
    const size = word & 0x7fffffff
    if (size > maxBlockSize || size > input.length - p) throw corrupt('lz4', `a block has length ${size}`)
    if (word >= uncompressedBit) out.append(input.subarray(p, p + size))
    else {
      const historyStart = flags & independentFlag ? out.length : frameStart
      // Most blocks need little room; the few that need more are begun again with all the room they may take.
      let blockEnd = -1
      for (const room of [size * usualExpansion, size * maxExpansion]) {
        out.reserve(Math.min(maxBlockSize, room))
        const outEnd = Math.min(out.buffer.length, out.length + maxBlockSize)
        blockEnd = decompressLz4Block(input, p, p + size, out.buffer, out.length, outEnd, historyStart)
        if (blockEnd >= 0) break
      }
      if (blockEnd < 0) {
        const isAtLimit = out.buffer.length === out.maxBytes && out.maxBytes - out.length < maxBlockSize
        throw isAtLimit ? out.tooLarge() : corrupt('lz4', 'a block is larger than its frame allows')
      }
      out.length = blockEnd
    }
    p += size
    if (flags & blockChecksumFlag) {
      if (p + 4 > input.length || input.readUInt32LE(p) !== xxhash32(input, p - size, p)) {
        throw corrupt('lz4', 'the checksum of a block does not match')
      }
      p += 4
    }
  }
  if (contentSize !== null && out.length - frameStart !== contentSize) {
    throw corrupt('lz4', `a frame of ${contentSize} bytes gave ${out.length - frameStart}`)
  }
  if (flags & contentChecksumFlag) {
    if (p + 4 > input.length || input.readUInt32LE(p) !== xxhash32(out.buffer, frameStart, out.length)) {
      throw corrupt('lz4', 'the checksum of a frame does not match')
    }
    p += 4
  }
  return p
}

export const lz4: Codec = { id: 3, name: 'lz4', load: () => null, compress, decompress }
