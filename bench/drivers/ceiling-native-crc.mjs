// The ceiling once more, with checksums by the CPU's own instruction.
import { native } from '../ceiling/crc32c.mjs'
import { useCrc } from './ceiling.mjs'

if (process.env.BENCH_PEERS) useCrc(native(process.env.BENCH_PEERS))
export * from './ceiling.mjs'
export const name = 'ceiling, native CRC'
