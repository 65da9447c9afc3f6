// xxHash32 (seed 0), the checksum in lz4 frames.

const prime1 = 0x9e3779b1
const prime2 = 0x85ebca77
const prime3 = 0xc2b2ae3d
const prime4 = 0x27d4eb2f
const prime5 = 0x165667b1

function load32(b: Uint8Array, i: number): number {
  return b[i]! | (b[i + 1]! << 8) | (b[i + 2]! << 16) | (b[i + 3]! << 24)
}

function rotate(v: number, bits: number): number {
  return (v << bits) | (v >>> (32 - bits))
}

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, prime2)) | 0, 13), prime1)
}

/** Of `bytes[start..end)`, as an unsigned number. */
export function xxhash32(bytes: Uint8Array, start: number, end: number): number {
  let i = start
  let h: number
  if (end - start >= 16) {
    let a = (prime1 + prime2) | 0
    let b = prime2 | 0
    let c = 0
    let d = -prime1 | 0
    for (const limit = end - 16; i <= limit; i += 16) {
      a = round(a, load32(bytes, i))
      b = round(b, load32(bytes, i + 4))
      c = round(c, load32(bytes, i + 8))
      d = round(d, load32(bytes, i + 12))
    }
    h = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0
  } else h = prime5 | 0
  h = (h + (end - start)) | 0
  for (; i + 4 <= end; i += 4) h = Math.imul(rotate((h + Math.imul(load32(bytes, i), prime3)) | 0, 17), prime4)
  for (; i < end; i++) h = Math.imul(rotate((h + Math.imul(bytes[i]!, prime5)) | 0, 11), prime1)
  h = Math.imul(h ^ (h >>> 15), prime2)
  h = Math.imul(h ^ (h >>> 13), prime3)
  return (h ^ (h >>> 16)) >>> 0
}
