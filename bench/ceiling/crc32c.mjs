// CRC-32C (Castagnoli) of bytes[start..end) in three ways. `node bench/ceiling/crc32c.mjs` compares their speed.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const POLYNOMIAL = 0x82f63b78
// TABLES[k][b]: what byte b contributes when k more bytes follow it.
const TABLES = Array.from({ length: 16 }, () => new Int32Array(256))
for (let b = 0; b < 256; b++) {
  let c = b
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ POLYNOMIAL : c >>> 1
  TABLES[0][b] = c
}
for (let k = 1; k < 16; k++) {
  for (let b = 0; b < 256; b++) {
    const c = TABLES[k - 1][b]
    TABLES[k][b] = (c >>> 8) ^ TABLES[0][c & 255]
  }
}
// Constants of the module, not elements of an array: the optimising compiler then knows each table's address.
const [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15] = TABLES

// One table, one byte at a time: what most JavaScript clients do.
export function byteAtATime(bytes, start, end) {
  let c = -1
  for (let i = start; i < end; i++) c = t0[(c ^ bytes[i]) & 255] ^ (c >>> 8)
  return ~c >>> 0
}

// Sixteen bytes a step, read as four aligned little-endian words through an Int32Array over the same memory.
export function slicingBy16(bytes, start, end) {
  let c = -1
  let i = start
  while (i < end && (bytes.byteOffset + i) & 3) c = t0[(c ^ bytes[i++]) & 255] ^ (c >>> 8)
  const count = ((end - i) >> 4) << 2
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + i, count)
  for (let k = 0; k < count; k += 4) {
    const w = c ^ words[k],
      x = words[k + 1],
      y = words[k + 2],
      z = words[k + 3]
    c =
      t15[w & 255] ^
      t14[(w >>> 8) & 255] ^
      t13[(w >>> 16) & 255] ^
      t12[w >>> 24] ^
      t11[x & 255] ^
      t10[(x >>> 8) & 255] ^
      t9[(x >>> 16) & 255] ^
      t8[x >>> 24] ^
      t7[y & 255] ^
      t6[(y >>> 8) & 255] ^
      t5[(y >>> 16) & 255] ^
      t4[y >>> 24] ^
      t3[z & 255] ^
      t2[(z >>> 8) & 255] ^
      t1[(z >>> 16) & 255] ^
      t0[z >>> 24]
  }
  for (i += count << 2; i < end; i++) c = t0[(c ^ bytes[i]) & 255] ^ (c >>> 8)
  return ~c >>> 0
}

// The CPU's own instruction, by the @node-rs/crc32 that the setup installed.
export function native(peers) {
  const { crc32c } = createRequire(join(peers, 'crc32c', 'x.js'))('@node-rs/crc32')
  return (bytes, start, end) => crc32c(bytes.subarray(start, end))
}

function compare() {
  const ways = { byteAtATime, slicingBy16 }
  if (process.env.BENCH_PEERS) ways['@node-rs/crc32'] = native(process.env.BENCH_PEERS)
  console.log(`| CRC-32C, MB/s, Node ${process.versions.node} | 100 B | 1 KiB | 16 KiB |\n|---|---|---|---|`)
  for (const [name, crc] of Object.entries(ways)) {
    const check = crc(Buffer.from('123456789'), 0, 9)
    if (check !== 0xe3069283) throw new Error(`${name} gives ${check.toString(16)} for the check string, not e3069283`)
    const speeds = [100, 1024, 16384].map((size) => {
      const block = Buffer.allocUnsafeSlow(size + 21).fill('{"level":"info"}')
      const rounds = Math.ceil(64e6 / size)
      const best = Math.min(
        ...Array.from({ length: 5 }, () => {
          const start = process.cpuUsage()
          for (let i = 0; i < rounds; i++) crc(block, 21, size + 21)
          const { user, system } = process.cpuUsage(start)
          return user + system
        }),
      )
      return Math.round((rounds * size) / best)
    })
    console.log(`| ${name} | ${speeds.join(' | ')} |`)
  }
}
if (process.argv[1] === fileURLToPath(import.meta.url)) compare()
