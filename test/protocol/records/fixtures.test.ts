import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createZstd } from '../../../src/protocol/records/compression/zstd.js'
import {
  BatchBuilder,
  codecByName,
  readControlBatch,
  recordsOf,
  splitBatches,
  type RecordView,
} from '../../../src/protocol/records/index.js'
import {
  contentCount,
  contentRecord,
  contentStart,
  contentText,
  plainRecord,
} from '../../../scripts/fixtures-records/content.js'

const where = { topic: 'orders', partition: 3 }

function fixture(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, '../../fixtures/records', name))
}

function only(name: string) {
  const batches = splitBatches(fixture(`${name}.bin`), where)
  expect(batches).toHaveLength(1)
  const batch = batches[0]!
  batch.verifyCrc()
  return batch
}

function shown(record: RecordView) {
  const text = (bytes: Buffer | null) => (bytes === null ? null : bytes.toString())
  const headers = record.headers.map(({ key, value }) => [key, text(value)])
  return { timestamp: record.timestamp, key: text(record.key), value: text(record.value), headers }
}

describe("what Java's client wrote", () => {
  it.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)('is read record by record (%s)', (codec) => {
    const batch = only(`java-${codec}`)
    expect(batch.codec.name).toBe(codec)
    expect(batch.baseOffset).toBe(4000)
    expect(batch.leaderEpoch).toBe(3)
    expect(batch.timestampType).toBe('CreateTime')
    expect(batch.producerId).toBe(-1)
    const records = recordsOf(batch)
    expect(records).toHaveLength(codec === 'none' ? 60 : contentCount)
    records.forEach((record, i) => {
      expect(record.offset).toBe(4000 + i)
      expect(shown(record)).toEqual(contentRecord(i))
    })
    expect(batch.maxTimestamp).toBe(Math.max(...records.map(({ timestamp }) => timestamp)))
  })

  it('comes out byte for byte the same when ottla writes it without compression', () => {
    const builder = new BatchBuilder()
    for (let i = 0; i < 60; i++) {
      const { timestamp, key, value, headers } = contentRecord(i)
      const list = headers.map(([headerKey, headerValue]) => ({ key: headerKey, value: headerValue }))
      expect(builder.append(timestamp, key, value, list)).toBe(i)
    }
    const sealed = builder.seal()
    const java = fixture('java-none.bin')
    // Java's bytes are those of a broker: base offset 4000, leader epoch 3.
    expect(sealed.subarray(16).equals(java.subarray(16))).toBe(true)
    builder.release()
  })

  it('has the time of the append for every record under LogAppendTime', () => {
    const records = recordsOf(only('java-log-append-time'))
    expect(records.map(({ timestamp, timestampType }) => [timestamp, timestampType])).toEqual(
      Array.from({ length: 3 }, () => [contentStart + 500, 'LogAppendTime']),
    )
  })

  it('says who the producer of a transaction is', () => {
    const { producerId, producerEpoch, baseSequence, isTransactional, isControl } = only('java-transactional')
    expect({ producerId, producerEpoch, baseSequence, isTransactional, isControl }).toEqual({
      producerId: 4_611_686_018,
      producerEpoch: 12,
      baseSequence: 345,
      isTransactional: true,
      isControl: false,
    })
  })

  it('ends transactions by control batches', () => {
    const commit = only('java-commit')
    expect(commit.isControl).toBe(true)
    expect(commit.nextOffset).toBe(51)
    expect(readControlBatch(commit)).toEqual({ type: 'COMMIT', coordinatorEpoch: 9 })
    expect(readControlBatch(only('java-abort'))).toEqual({ type: 'ABORT', coordinatorEpoch: 10 })
  })

  it('T33 leads past the gaps of compaction, and past batches without records, in one step', () => {
    const gaps = only('java-gaps')
    expect(gaps.baseOffset).toBe(100)
    expect(recordsOf(gaps).map(({ offset }) => offset)).toEqual([101, 104])
    expect(gaps.nextOffset).toBe(110)
    const empty = only('java-empty')
    expect(recordsOf(empty)).toEqual([])
    expect(empty.nextOffset).toBe(120)
    expect(empty.baseSequence).toBe(20)
  })

  it.each([0, 1])('T39 is refused with the offset when it is in the old format (magic %i)', (magic) => {
    expect(() => splitBatches(fixture(`java-magic-${magic}.bin`), where)).toThrowError(
      expect.objectContaining({
        code: 'UNSUPPORTED_FOR_MESSAGE_FORMAT',
        topic: 'orders',
        partition: 3,
        offset: 30,
        message: expect.stringMatching(`offset 30 .*\\(magic ${magic}\\)`) as string,
      }),
    )
  })
})

describe('what librdkafka wrote', () => {
  it.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('is read record by record (%s)', (codec) => {
    const batches = splitBatches(fixture(`librdkafka-${codec}.bin`), where)
    const records = batches.flatMap((batch) => {
      batch.verifyCrc()
      expect(batch.codec.name).toBe(codec)
      return recordsOf(batch)
    })
    expect(records).toHaveLength(contentCount)
    records.forEach((record, i) => {
      expect(record.offset).toBe(i)
      const { key, value } = shown(record)
      expect({ key, value }).toEqual(plainRecord(i))
    })
  })
})

describe("what the codecs' own tools wrote", () => {
  const text = Array.from({ length: contentCount }, (_, i) => `${contentText(i)}\n`).join('')

  it('T93 lz4 with linked blocks, a content size and the checksums of blocks and frame', () => {
    const frame = fixture('lz4-linked-blocks.lz4')
    const lz4 = codecByName('lz4')
    expect(frame[4]).toBe(0x5c)
    expect(lz4.decompress(frame, 1 << 20).toString()).toBe(text)
    const second = lz4.compress(Buffer.from('the second frame'))
    expect(lz4.decompress(Buffer.concat([frame, second]), 1 << 20).toString()).toBe(`${text}the second frame`)
    for (let at = 4; at < frame.length; at += 97) {
      const changed = Buffer.from(frame)
      changed[at]! ^= 1
      expect(() => lz4.decompress(changed, 1 << 20)).toThrowError(expect.objectContaining({ code: 'CORRUPT_MESSAGE' }))
    }
  })

  it('T91 zstd of Java and librdkafka, by our own decoder and by node:zlib where that can', () => {
    const script = createZstd({ constants: {} })
    for (const name of ['java-zstd', 'librdkafka-zstd']) {
      const records = splitBatches(fixture(`${name}.bin`), where)[0]!.bytes.subarray(61)
      const bytes = script.decompress(records, 1 << 20)
      expect(bytes.length).toBeGreaterThan(100_000)
      expect(bytes.equals(codecByName('zstd').decompress(records, 1 << 20))).toBe(true)
    }
    expect(script.decompress(fixture('zstd-large-window.zst'), 1 << 20).toString()).toBe(text)
  })

  it('T91 zstd with a window of 128 MiB and no content size', () => {
    expect(
      codecByName('zstd')
        .decompress(fixture('zstd-large-window.zst'), 1 << 20)
        .toString(),
    ).toBe(text)
  })
})
