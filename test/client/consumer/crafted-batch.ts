// Record batches as no producer writes them: gaps, no records, control markers, damage. Offsets are absolute.
import { crc32c } from '../../../src/protocol/records/index.js'
import {
  attributesAt,
  batchHeaderSize,
  batchLengthAt,
  controlBit,
  crcAt,
  lastOffsetDeltaAt,
  lengthOverhead,
  magicAt,
  producerEpochAt,
  producerIdAt,
  putInt16,
  putInt32,
  putInt64,
  recordCountAt,
  transactionalBit,
  baseTimestampAt,
  maxTimestampAt,
  leaderEpochAt,
} from '../../../src/protocol/records/layout.js'
import { putVarint } from '../../../src/protocol/records/layout.js'

export interface CraftedBatch {
  readonly base: number
  /** @default the last of `offsets` */
  readonly last?: number
  readonly offsets?: readonly number[]
  readonly value?: (offset: number) => string
  readonly producerId?: number
  readonly transactional?: boolean
  readonly leaderEpoch?: number
  readonly marker?: 'commit' | 'abort'
  readonly timestamp?: number
}

export function craft(batch: CraftedBatch): Buffer {
  const { base, marker } = batch
  const offsets = batch.offsets ?? (marker === undefined ? [] : [base])
  const last = batch.last ?? offsets.at(-1) ?? base
  const records = offsets.map((offset) => {
    const key = marker === undefined ? Buffer.from(`k${offset}`) : Buffer.from([0, 0, 0, marker === 'commit' ? 1 : 0])
    const value = marker === undefined ? Buffer.from(batch.value?.(offset) ?? `v${offset}`) : Buffer.alloc(6)
    return record(offset - base, key, value)
  })
  const bytes = Buffer.concat([Buffer.alloc(batchHeaderSize), ...records])
  putInt64(bytes, 0, base)
  putInt32(bytes, batchLengthAt, bytes.length - lengthOverhead)
  putInt32(bytes, leaderEpochAt, batch.leaderEpoch ?? 0)
  bytes[magicAt] = 2
  const isTransactional = batch.transactional === true || marker !== undefined
  putInt16(bytes, attributesAt, (isTransactional ? transactionalBit : 0) | (marker === undefined ? 0 : controlBit))
  putInt32(bytes, lastOffsetDeltaAt, last - base)
  putInt64(bytes, baseTimestampAt, batch.timestamp ?? 1_700_000_000_000)
  putInt64(bytes, maxTimestampAt, batch.timestamp ?? 1_700_000_000_000)
  putInt64(bytes, producerIdAt, batch.producerId ?? -1)
  putInt16(bytes, producerEpochAt, 0)
  putInt32(bytes, recordCountAt, offsets.length)
  putInt32(bytes, crcAt, crc32c(bytes, attributesAt) | 0)
  return bytes
}

function record(offsetDelta: number, key: Buffer, value: Buffer): Buffer {
  const head = Buffer.alloc(20)
  let p = 2 // attributes and timestamp delta are 0
  p = putVarint(head, p, offsetDelta)
  p = putVarint(head, p, key.length)
  const middle = Buffer.alloc(5)
  const q = putVarint(middle, 0, value.length)
  const body = Buffer.concat([head.subarray(0, p), key, middle.subarray(0, q), value, Buffer.from([0])])
  const length = Buffer.alloc(5)
  return Buffer.concat([length.subarray(0, putVarint(length, 0, body.length)), body])
}

/** The same batch with its checksum made wrong. */
export function damaged(batch: Buffer): Buffer {
  const copy = Buffer.from(batch)
  copy[copy.length - 1]! ^= 0xff
  return copy
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}
