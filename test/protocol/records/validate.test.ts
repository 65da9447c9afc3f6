import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BatchBuilder,
  codecByName,
  crc32c,
  patchForAppend,
  rewriteBatch,
  recordsOf,
  splitBatches,
  validateBatch,
  type BatchRules,
  type SealOptions,
} from '../../../src/protocol/records/index.js'

const where = { topic: 'orders', partition: 1 }
const now = 1_700_000_000_000
const rules: BatchRules = {
  maxMessageBytes: 1_048_588,
  isCompacted: false,
  timestampType: 'CreateTime',
  timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
  timestampAfterMaxMs: 3_600_000,
  nowMs: now,
}

interface Input {
  readonly key?: string | null
  readonly value?: string
  readonly timestamp?: number
}

function batchBytes(inputs: readonly Input[], options: SealOptions = {}): Buffer {
  const builder = new BatchBuilder()
  for (const { key = 'k', value = 'v', timestamp = now } of inputs) builder.append(timestamp, key, value)
  const bytes = Buffer.from(builder.seal(options))
  builder.release()
  return bytes
}

function withCrc(bytes: Buffer, change: (bytes: Buffer) => void): Buffer {
  change(bytes)
  bytes.writeUInt32BE(crc32c(bytes, 21), 17)
  return bytes
}

const three: readonly Input[] = [{}, {}, {}]
const verdict = (bytes: Buffer | null, changed: Partial<BatchRules> = {}) => {
  const result = validateBatch(bytes, where, { ...rules, ...changed })
  return result.ok ? 'OK' : result.code
}

describe('B12 validateBatch', () => {
  it.each(['none', 'gzip', 'snappy', 'lz4'] as const)('accepts what a producer sends (%s)', (name) => {
    const inputs = Array.from({ length: 50 }, (_, i) => ({ timestamp: now + (i === 20 ? 500 : -i) }))
    const bytes = batchBytes(inputs, { codec: codecByName(name), producerId: 1, producerEpoch: 0, baseSequence: 0 })
    const before = Buffer.from(bytes)
    const result = validateBatch(bytes, where, rules)
    expect(result).toMatchObject({
      ok: true,
      maxTimestamp: now + 500,
      offsetDeltaOfMaxTimestamp: 20,
      isSequential: true,
    })
    expect(result.ok && result.batch.recordCount).toBe(50)
    expect(bytes.equals(before)).toBe(true)
  })

  it('refuses nothing at all, more than one batch, and an old format', () => {
    expect(verdict(null)).toBe('INVALID_RECORD')
    expect(verdict(Buffer.alloc(0))).toBe('INVALID_RECORD')
    const bytes = batchBytes(three)
    expect(verdict(Buffer.concat([bytes, bytes]))).toBe('INVALID_RECORD')
    for (const magic of [0, 1, 3]) {
      const other = Buffer.from(bytes)
      other[16] = magic
      expect(verdict(other)).toBe(magic < 2 ? 'INVALID_RECORD' : 'CORRUPT_MESSAGE')
    }
  })

  it('refuses a wrong CRC, and lengths that lie', () => {
    const bytes = batchBytes(three)
    const changed = Buffer.from(bytes)
    changed[70]! ^= 1
    expect(verdict(changed)).toBe('CORRUPT_MESSAGE')
    for (const length of [-1, 0, 48, bytes.length, 2 ** 31 - 1 - 12]) {
      const lying = Buffer.from(bytes)
      lying.writeInt32BE(length, 8)
      expect(verdict(lying)).toBe(length <= 48 ? 'CORRUPT_MESSAGE' : 'INVALID_RECORD')
    }
    for (let length = 1; length < bytes.length; length++)
      expect(verdict(bytes.subarray(0, length))).toBe('INVALID_RECORD')
  })

  it('T12 refuses a batch larger than max.message.bytes as it was sent, after compression', () => {
    const inputs = Array.from({ length: 10 }, () => ({ value: 'x'.repeat(200) }))
    expect(verdict(batchBytes(inputs), { maxMessageBytes: 1000 })).toBe('MESSAGE_TOO_LARGE')
    expect(verdict(batchBytes(inputs, { codec: codecByName('lz4') }), { maxMessageBytes: 1000 })).toBe('OK')
    const bytes = batchBytes(three)
    expect(verdict(bytes, { maxMessageBytes: bytes.length })).toBe('OK')
    expect(verdict(bytes, { maxMessageBytes: bytes.length - 1 })).toBe('MESSAGE_TOO_LARGE')
  })

  it('refuses a header that does not agree with itself', () => {
    const cases: readonly ((bytes: Buffer) => void)[] = [
      (bytes) => bytes.writeBigInt64BE(1n, 0), // base offset
      (bytes) => bytes.writeInt32BE(3, 23), // last offset delta
      (bytes) => bytes.writeInt32BE(-1, 23),
      (bytes) => bytes.writeInt32BE(0, 57), // count
      (bytes) => bytes.writeInt32BE(2, 57),
      (bytes) => (bytes[22]! |= 0x20), // control
      (bytes) => bytes.writeBigInt64BE(9n, 43), // a producer id without sequence
    ]
    for (const change of cases) expect(verdict(withCrc(batchBytes(three), change))).toBe('INVALID_RECORD')
    // Count and last offset agree, but the records are three.
    const four = withCrc(batchBytes(three), (bytes) => {
      bytes.writeInt32BE(3, 23)
      bytes.writeInt32BE(4, 57)
    })
    expect(verdict(four)).toBe('INVALID_RECORD')
  })

  it('T94 refuses codecs that do not exist and data of codecs that cannot be read', () => {
    for (const id of [5, 6, 7]) {
      expect(verdict(withCrc(batchBytes(three), (bytes) => (bytes[22] = id)))).toBe('UNSUPPORTED_COMPRESSION_TYPE')
    }
    for (const id of [1, 2, 3, 4]) {
      expect(verdict(withCrc(batchBytes(three), (bytes) => (bytes[22] = id)))).toBe('CORRUPT_MESSAGE')
    }
    const inputs = Array.from({ length: 100 }, () => ({ value: 'x'.repeat(1000) }))
    const bomb = batchBytes(inputs, { codec: codecByName('gzip') })
    expect(verdict(bomb, { maxDecompressedBytes: 50_000 })).toBe('CORRUPT_MESSAGE')
    expect(verdict(bomb)).toBe('OK')
  })

  it('T13 names the records without key on a compacted topic; nothing of the batch is taken', () => {
    const inputs = [{}, { key: null }, { key: '' }, { key: null }]
    expect(verdict(batchBytes(inputs))).toBe('OK')
    const result = validateBatch(batchBytes(inputs), where, { ...rules, isCompacted: true })
    expect(result).toMatchObject({ ok: false, code: 'INVALID_RECORD' })
    expect(!result.ok && result.records.map(({ batchIndex }) => batchIndex)).toEqual([1, 3])
    expect(!result.ok && result.message).toMatch(/2 of 4 records for orders-1 are refused/)
  })

  it('T14 names the records whose timestamp is out of range, microseconds for example', () => {
    const inputs = [{}, { timestamp: now * 1000 }, { timestamp: now + 3_600_000 }, { timestamp: now + 3_600_001 }]
    const result = validateBatch(batchBytes(inputs), where, rules)
    expect(result).toMatchObject({ ok: false, code: 'INVALID_TIMESTAMP' })
    expect(!result.ok && result.records.map(({ batchIndex }) => batchIndex)).toEqual([1, 3])
    expect(!result.ok && result.records[0]!.message).toContain(String(now * 1000))
    expect(verdict(batchBytes([{ timestamp: now - 1001 }]), { timestampBeforeMaxMs: 1000 })).toBe('INVALID_TIMESTAMP')
    expect(verdict(batchBytes([{ timestamp: -1 }]), { timestampBeforeMaxMs: 1000 })).toBe('OK')
    expect(verdict(batchBytes(inputs), { timestampType: 'LogAppendTime' })).toBe('OK')
  })

  it('refuses a producer that sets LogAppendTime itself', () => {
    const bytes = batchBytes([{ timestamp: -1 }, {}])
    patchForAppend(bytes, 0, -1, { isLogAppendTime: true, maxTimestamp: -1 })
    expect(verdict(bytes)).toBe('INVALID_TIMESTAMP')
    expect(verdict(bytes, { timestampType: 'LogAppendTime' })).toBe('INVALID_TIMESTAMP')
  })

  it('notices inner offsets that do not count up, which rewriting puts right', () => {
    const bytes = withCrc(batchBytes(three), (copy) => {
      expect(copy[61 + 3]).toBe(0)
      copy[61 + 3] = 2
    })
    const result = validateBatch(bytes, where, rules)
    expect(result).toMatchObject({ ok: true, isSequential: false })
    const [batch] = splitBatches(bytes, where)
    const rewritten = rewriteBatch(batch!, codecByName('none'))
    expect(validateBatch(rewritten, where, rules)).toMatchObject({ ok: true, isSequential: true })
    expect(recordsOf(splitBatches(rewritten, where)[0]!).map(({ offset }) => offset)).toEqual([0, 1, 2])
  })

  it('gives a verdict on any bytes', () => {
    const whole = batchBytes(three)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }),
        (changes) => {
          const bytes = withCrc(Buffer.from(whole), (copy) => {
            for (const [at, value] of changes) copy[at] = value
          })
          expect(verdict(bytes)).toMatch(/^(OK|[A-Z_]+)$/)
        },
      ),
      { numRuns: 1000 },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(verdict(Buffer.from(bytes))).toMatch(/^(INVALID_RECORD|CORRUPT_MESSAGE)$/)
      }),
    )
  })
})
