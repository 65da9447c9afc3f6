// CRC-32C (Castagnoli), the checksum of record batches: sixteen bytes a step over sixteen tables, or the CPU's own instruction
// where the optional @node-rs/crc32 is installed and the block is large enough to pay for the call.
import { loadPeer } from './native-peer.js'

const polynomial = 0x82f63b78
const nativeFromBytes = 1024

/** `TABLES[k][b]`: what byte b contributes when k more bytes follow it. */
const tables = Array.from({ length: 16 }, () => new Int32Array(256))
for (let b = 0; b < 256; b++) {
  let c = b
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ polynomial : c >>> 1
  tables[0]![b] = c
}
for (let k = 1; k < 16; k++) {
  for (let b = 0; b < 256; b++) {
    const c = tables[k - 1]![b]!
    tables[k]![b] = (c >>> 8) ^ tables[0]![c & 255]!
  }
}

const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1

type NativeCrc32c = (bytes: Uint8Array, initial: number) => number

let native: NativeCrc32c | null | undefined

/** The native function if it is there and gives the right answer; asked once. */
function loadNative(): NativeCrc32c | null {
  const crc = loadPeer<{ crc32c?: NativeCrc32c }>('@node-rs/crc32')?.crc32c
  if (typeof crc !== 'function') return null
  try {
    return crc(Buffer.from('56789'), crc(Buffer.from('1234'), 0)) === 0xe3069283 ? crc : null
  } catch {
    return null
  }
}

/**
 * The CRC-32C of `bytes[start..end)` as an unsigned number. `previous` is the CRC of what comes before these bytes, so that
 * a checksum can go over several pieces.
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, previous = 0): number {
  if (end - start >= nativeFromBytes) {
    if (native === undefined) native = loadNative()
    if (native !== null) return native(bytes.subarray(start, end), previous)
  }
  return crc32cOfScript(bytes, start, end, previous)
}

type ScriptCrc32c = (bytes: Uint8Array, start: number, end: number, previous: number) => number

/** The same in JavaScript alone. */
export const crc32cOfScript: ScriptCrc32c = createScript()

function createScript(): ScriptCrc32c {
  // Constants, not elements of an array: the optimising compiler then knows each table's address. Constants of a function, since
  // bundlers make variables of a module's, which are half as fast.
  const [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15] = tables as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ]

  return (bytes, start, end, previous) => {
    let c = ~previous
    let i = start
    if (littleEndian && end - start >= 32) {
      while ((bytes.byteOffset + i) & 3) c = t0[(c ^ bytes[i++]!) & 255]! ^ (c >>> 8)
      const count = ((end - i) >> 4) << 2
      const words = new Int32Array(bytes.buffer, bytes.byteOffset + i, count)
      for (let k = 0; k < count; k += 4) {
        const w = c ^ words[k]!
        const x = words[k + 1]!
        const y = words[k + 2]!
        const z = words[k + 3]!
        c =
          t15[w & 255]! ^
          t14[(w >>> 8) & 255]! ^
          t13[(w >>> 16) & 255]! ^
          t12[w >>> 24]! ^
          t11[x & 255]! ^
          t10[(x >>> 8) & 255]! ^
          t9[(x >>> 16) & 255]! ^
          t8[x >>> 24]! ^
          t7[y & 255]! ^
          t6[(y >>> 8) & 255]! ^
          t5[(y >>> 16) & 255]! ^
          t4[y >>> 24]! ^
          t3[z & 255]! ^
          t2[(z >>> 8) & 255]! ^
          t1[(z >>> 16) & 255]! ^
          t0[z >>> 24]!
      }
      i += count << 2
    }
    for (; i < end; i++) c = t0[(c ^ bytes[i]!) & 255]! ^ (c >>> 8)
    return ~c >>> 0
  }
}
