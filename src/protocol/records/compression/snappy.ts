// snappy in the two forms that Kafka's clients write: the framing of the Java library (which is also what we write) and one
// raw block (librdkafka, Go clients).
import { loadPeer } from '../native-peer.js'
import { BoundedOutput, corrupt, type Codec } from './codec.js'
import { compressSnappyBlock, decompressSnappyBlock, maxSnappySize, snappyBlockSize } from './snappy-block.js'

/** What the Java library's stream starts with; a version and the oldest version that can read it follow, 4 bytes each. */
const javaMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const javaHeader = Buffer.concat([javaMagic, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])])
/** Uncompressed bytes per block of the framing, as Java's default. */
const javaBlockSize = 32 << 10

interface NativeSnappy {
  compressSync(bytes: Uint8Array): Buffer
}

let native: NativeSnappy | null | undefined

function loadNative(): NativeSnappy | null {
  const peer = loadPeer<Partial<NativeSnappy>>('snappy')
  if (typeof peer?.compressSync !== 'function') return null
  const sample = Buffer.from('ottla ottla ottla ottla ottla')
  try {
    return decompress(peer.compressSync(sample), sample.length).equals(sample) ? (peer as NativeSnappy) : null
  } catch {
    return null
  }
}

function compress(bytes: Uint8Array): Buffer {
  if (native === undefined) native = loadNative()
  const blocks = Math.max(1, Math.ceil(bytes.length / javaBlockSize))
  const out = Buffer.allocUnsafeSlow(javaHeader.length + blocks * (4 + maxSnappySize(javaBlockSize)))
  out.set(javaHeader)
  let p = javaHeader.length
  for (let start = 0; start < bytes.length; start += javaBlockSize) {
    const end = Math.min(bytes.length, start + javaBlockSize)
    let blockEnd: number
    if (native === null) blockEnd = compressSnappyBlock(bytes, start, end, out, p + 4)
    else {
      const block = native.compressSync(bytes.subarray(start, end))
      out.set(block, p + 4)
      blockEnd = p + 4 + block.length
    }
    out.writeInt32BE(blockEnd - p - 4, p)
    p = blockEnd
  }
  return out.subarray(0, p)
}

function decompress(bytes: Uint8Array, maxBytes: number): Buffer {
  const out = new BoundedOutput('snappy', maxBytes, 0)
  if (bytes.length < javaHeader.length || !javaMagic.equals(bytes.subarray(0, javaMagic.length))) {
    appendBlock(bytes, 0, bytes.length, out)
    return out.finish()
  }
  for (let p = javaHeader.length; p < bytes.length;) {
    if (p + 4 > bytes.length) throw corrupt('snappy', 'a block of the framing has no length')
    const length = Buffer.from(bytes.buffer, bytes.byteOffset + p, 4).readInt32BE()
    p += 4
    if (length < 0 || length > bytes.length - p) throw corrupt('snappy', `a block of the framing has length ${length}`)
    appendBlock(bytes, p, p + length, out)
    p += length
  }
  return out.finish()
}

function appendBlock(bytes: Uint8Array, start: number, end: number, out: BoundedOutput): void {
  const size = snappyBlockSize(bytes, start, end)
  if (out.length + size > out.maxBytes) throw out.tooLarge()
  out.reserve(size)
  decompressSnappyBlock(bytes, start, end, out.buffer, out.length, size)
  out.length += size
}

export const snappy: Codec = { id: 2, name: 'snappy', load: () => null, compress, decompress }
