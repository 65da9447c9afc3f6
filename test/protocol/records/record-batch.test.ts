import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BatchBuilder,
  codecByName,
  crc32c,
  patchForAppend,
  readControlBatch,
  RecordCursor,
  recordsOf,
  RecordView,
  rewriteBatch,
  splitBatches,
  writeEndTransactionMarker,
  type RecordBatch,
  type SealOptions,
} from '../../../src/protocol/records/index.js'

const where = { topic: 'orders', partition: 2 }
const now = 1_700_000_000_000

function batchBytes(values: readonly (string | null)[], options: SealOptions = {}, baseOffset = 0): Buffer {
  const builder = new BatchBuilder()
  values.forEach((value, i) => builder.append(now + i, `k${i}`, value, { n: String(i) }))
  const bytes = Buffer.from(builder.seal(options))
  builder.release()
  patchForAppend(bytes, baseOffset, 4)
  return bytes
}

function only(bytes: Buffer): RecordBatch {
  const batches = splitBatches(bytes, where)
  expect(batches).toHaveLength(1)
  return batches[0]!
}

/** Changes bytes inside the checksum, and makes the checksum right again. */
function withCrc(bytes: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes)
  change(copy)
  copy.writeUInt32BE(crc32c(copy, 21), 17)
  return copy
}

const corrupt = (offset: number, message = /.*/) =>
  expect.objectContaining({
    name: 'RecordError',
    code: 'CORRUPT_MESSAGE',
    topic: 'orders',
    partition: 2,
    offset,
    message: expect.stringMatching(message) as string,
  }) as Error

describe('splitBatches', () => {
  it('finds whole batches from their headers and leaves out one that was cut off', () => {
    const [a, b] = [batchBytes(['a', 'b'], {}, 10), batchBytes(['c'], {}, 12)]
    const all = Buffer.concat([a, b, a])
    for (let length = a.length + b.length; length < all.length; length++) {
      const found = splitBatches(all.subarray(0, length), where)
      expect(found.map(({ baseOffset, nextOffset }) => [baseOffset, nextOffset])).toEqual([
        [10, 12],
        [12, 13],
      ])
    }
    expect(splitBatches(Buffer.alloc(0), where)).toEqual([])
    expect(splitBatches(a.subarray(0, 16), where)).toEqual([])
  })

  it.each([-1, -2_000_000_000, 0, 48])('T38 refuses a batch with the length %i, at its offset', (length) => {
    const bytes = batchBytes(['a'], {}, 77)
    bytes.writeInt32BE(length, 8)
    expect(() => splitBatches(bytes, where)).toThrowError(corrupt(77, /its length is/))
  })

  it('refuses a magic that does not exist', () => {
    const bytes = batchBytes(['a'], {}, 77)
    bytes[16] = 3
    expect(() => splitBatches(bytes, where)).toThrowError(corrupt(77, /its magic is 3/))
  })

  it('gives the good batches before a bad one, which then is an error when it comes first', () => {
    const good = batchBytes(['a'], {}, 5)
    const bad = batchBytes(['b'], {}, 6)
    bad.writeInt32BE(-1, 8)
    expect(splitBatches(Buffer.concat([good, bad]), where).map(({ baseOffset }) => baseOffset)).toEqual([5])
    expect(() => splitBatches(bad, where)).toThrowError(corrupt(6))
  })

  it('T127 refuses offsets outside the safe integers and keeps those within', () => {
    const bytes = batchBytes(['a', 'b'])
    bytes.writeBigInt64BE(2n ** 53n + 1n, 0)
    expect(() => splitBatches(bytes, where)).toThrowError(corrupt(2 ** 53, /offsets are impossible/))
    bytes.writeBigInt64BE(-1n, 0)
    expect(() => splitBatches(bytes, where)).toThrowError(corrupt(-1))
    const large = 2 ** 53 - 2 ** 32
    bytes.writeBigInt64BE(BigInt(large), 0)
    expect(recordsOf(only(bytes)).map(({ offset }) => offset)).toEqual([large, large + 1])
  })
})

describe('RecordBatch', () => {
  it('T38 finds a changed byte by the CRC, but not a changed offset or leader epoch, which lie outside of it', () => {
    const bytes = batchBytes(['a', 'b'], {}, 40)
    only(bytes).verifyCrc()
    for (let at = 21; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 0x10
      // What makes the header impossible is found before the checksum is asked for.
      expect(() => splitBatches(changed, where).forEach((batch) => batch.verifyCrc())).toThrowError(corrupt(40))
    }
    bytes.writeInt32BE(99, 12)
    only(bytes).verifyCrc()
  })

  it('T94 reads a compressed batch without records, and refuses unknown codecs at its offset', () => {
    const empty = withCrc(batchBytes(['a'], {}, 9).subarray(0, 61), (bytes) => {
      bytes.writeInt32BE(61 - 12, 8)
      bytes[22] = 3
      bytes.writeInt32BE(0, 57)
    })
    expect(recordsOf(only(empty))).toEqual([])
    expect(only(empty).nextOffset).toBe(10)
    for (const id of [5, 6, 7]) {
      const unknown = withCrc(batchBytes(['a'], {}, 9), (bytes) => {
        bytes[22] = id
      })
      expect(() => recordsOf(only(unknown))).toThrowError(
        expect.objectContaining({ code: 'UNSUPPORTED_COMPRESSION_TYPE', offset: 9, topic: 'orders', partition: 2 }),
      )
    }
  })

  it('T38 names topic, partition and offset when a codec fails or would give too much', () => {
    const values = Array.from({ length: 100 }, () => 'x'.repeat(1000))
    for (const name of ['gzip', 'snappy', 'lz4'] as const) {
      const bytes = batchBytes(values, { codec: codecByName(name) }, 300)
      expect(() => new RecordCursor(only(bytes), 50_000)).toThrowError(
        corrupt(300, /more than the limit of 50000 bytes/),
      )
      const damaged = withCrc(bytes, (copy) => copy.fill(0xff, 70, 90))
      expect(() => recordsOf(only(damaged))).toThrowError(corrupt(300, new RegExp(`orders-2 offset 300 .*${name}: `)))
      expect(only(damaged).nextOffset).toBe(400)
    }
  })

  it('T35 gives the whole batch, so that a reader in its middle can drop what is before its position', () => {
    const cursor = new RecordCursor(only(batchBytes(['a', 'b', 'c', 'd'], {}, 100)))
    const delivered: number[] = []
    while (cursor.next()) if (cursor.offset >= 102) delivered.push(cursor.offset)
    expect(delivered).toEqual([102, 103])
  })

  it('T127 throws at the record whose timestamp is outside the safe integers, not before', () => {
    const far = withCrc(batchBytes(['a', 'b'], {}, 8), (bytes) => bytes.writeBigInt64BE(2n ** 53n - 1n, 27))
    const [first, second] = recordsOf(only(far))
    expect(first!.timestamp).toBe(Number.MAX_SAFE_INTEGER)
    expect(() => second!.timestamp).toThrowError(expect.objectContaining({ code: 'INVALID_TIMESTAMP', offset: 9 }))
    expect(second!.value!.toString()).toBe('b')
    // The base is outside, the sum within again.
    const builder = new BatchBuilder()
    builder.append(0, null, 'a')
    builder.append(-10, null, 'b')
    const back = withCrc(Buffer.from(builder.seal()), (bytes) => bytes.writeBigInt64BE(2n ** 53n + 1n, 27))
    builder.release()
    const records = recordsOf(only(back))
    expect(() => records[0]!.timestamp).toThrowError(expect.objectContaining({ offset: 0 }))
    expect(records[1]!.timestamp).toBe(2 ** 53 - 9)
  })

  it('reads records without timestamp as -1', () => {
    const builder = new BatchBuilder()
    builder.append(-1, null, 'a')
    const bytes = Buffer.from(builder.seal())
    builder.release()
    expect(recordsOf(only(bytes))[0]!.timestamp).toBe(-1)
    expect(only(bytes).maxTimestamp).toBe(-1)
  })
})

describe('RecordCursor', () => {
  const whole = () => batchBytes(['first', 'second', 'third'], {}, 20)

  it('refuses a count that the bytes do not have', () => {
    const more = withCrc(whole(), (bytes) => bytes.writeInt32BE(4, 57))
    expect(() => recordsOf(only(more))).toThrowError(corrupt(20))
    const fewer = withCrc(whole(), (bytes) => bytes.writeInt32BE(2, 57))
    expect(() => recordsOf(only(fewer))).toThrowError(corrupt(20, /bytes are left after its last record/))
    const negative = withCrc(whole(), (bytes) => bytes.writeInt32BE(-5, 57))
    expect(() => recordsOf(only(negative))).toThrowError(corrupt(20, /it has -5 records/))
  })

  it('is at its end after an error', () => {
    const cursor = new RecordCursor(only(withCrc(whole(), (bytes) => bytes.writeInt32BE(2, 57))))
    expect([cursor.next(), cursor.next()]).toEqual([true, true])
    expect(() => cursor.next()).toThrowError(corrupt(20))
    expect(cursor.next()).toBe(false)
  })

  it('answers any damage within records with a typed error or other values, never with anything else', () => {
    const bytes = whole()
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 21, max: bytes.length - 1 }), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const damaged = withCrc(bytes, (copy) => {
            for (const [at, value] of changes) copy[at] = value
          })
          expect(outcome(damaged)).toMatch(/^(read|CORRUPT_MESSAGE|INVALID_TIMESTAMP|UNSUPPORTED_COMPRESSION_TYPE)$/)
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('answers random and truncated bytes with a typed error or nothing', () => {
    const allowed = /^(read|CORRUPT_MESSAGE|UNSUPPORTED_FOR_MESSAGE_FORMAT)$/
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(outcome(Buffer.from(bytes))).toMatch(allowed)
      }),
    )
    const bytes = whole()
    for (let length = 61; length < bytes.length; length++) {
      const cut = withCrc(bytes.subarray(0, length), (copy) => copy.writeInt32BE(length - 12, 8))
      expect(outcome(cut)).toBe('CORRUPT_MESSAGE')
    }
  })

  it('does not run away on a record of endless varints', () => {
    const endless = withCrc(Buffer.concat([whole().subarray(0, 61), Buffer.alloc(1 << 20, 0xff)]), (bytes) => {
      bytes.writeInt32BE(bytes.length - 12, 8)
    })
    expect(() => recordsOf(only(endless))).toThrowError(corrupt(20))
  })
})

function outcome(bytes: Buffer): string {
  try {
    for (const batch of splitBatches(bytes, where)) {
      batch.verifyCrc()
      for (const record of recordsOf(batch)) {
        expect([record.key, record.value, record.timestamp, record.headers, record.offset]).toHaveLength(5)
      }
    }
    return 'read'
  } catch (error) {
    return (error as { code?: string }).code ?? `a foreign error: ${String(error)}`
  }
}

describe('RecordView', () => {
  it('refuses headers that run over the end, at the record', () => {
    const bytes = withCrc(batchBytes(['v'], {}, 30), (copy) => {
      copy[copy.length - 5] = 0x7e // 63 headers
    })
    const [record] = recordsOf(only(bytes))
    expect(record!.value!.toString()).toBe('v')
    expect(() => record!.headers).toThrowError(corrupt(30, /headers/))
  })

  it('is a view of the batch, and its copy is not', () => {
    for (const codec of [codecByName('none'), codecByName('lz4')]) {
      const values = ['one', null, 'three'.repeat(50)]
      const bytes = batchBytes(values, { codec }, 60)
      const records = recordsOf(only(bytes))
      const copies = records.map((record) => record.copy())
      const shown = (record: RecordView) => {
        const { topic, partition, offset, timestamp, timestampType, leaderEpoch, key, value, headers } = record
        return { topic, partition, offset, timestamp, timestampType, leaderEpoch, key, value, headers }
      }
      expect(copies.map(shown)).toEqual(records.map(shown))
      expect(copies[0]!.value!.buffer).not.toBe(records[0]!.value!.buffer)
      expect(copies[0]!.value!.buffer.byteLength).toBeLessThan(100)
      bytes.fill(0)
      expect(copies.map(({ value }) => value?.toString() ?? null)).toEqual(values)
      expect(copies.map(({ offset }) => offset)).toEqual([60, 61, 62])
    }
  })

  it('can be made as a class of its own that decodes keys and values', () => {
    class Decoded extends RecordView<string | null, number> {
      override get key(): string | null {
        return this.keyBytes?.toString() ?? null
      }
      override get value(): number {
        return this.valueBytes?.length ?? -1
      }
    }
    const decoded: Decoded[] = []
    const cursor = new RecordCursor(only(batchBytes(['four', null])))
    while (cursor.next()) decoded.push(new Decoded(cursor))
    expect(decoded.map(({ key, value }) => [key, value])).toEqual([
      ['k0', 4],
      ['k1', -1],
    ])
    expect(decoded[0]!.copy()).toBeInstanceOf(Decoded)
    expect(decoded[0]!.copy().value).toBe(4)
  })
})

describe('patchForAppend', () => {
  it('sets offset and leader epoch without touching the checksum', () => {
    const bytes = batchBytes(['a', 'b'])
    const { crc } = only(bytes)
    patchForAppend(bytes, 2 ** 40, 7)
    const batch = only(bytes)
    batch.verifyCrc()
    expect([batch.baseOffset, batch.lastOffset, batch.leaderEpoch, batch.crc]).toEqual([2 ** 40, 2 ** 40 + 1, 7, crc])
  })

  it('gives every record the time of the append under LogAppendTime, and takes it back', () => {
    const bytes = batchBytes(['a', 'b'])
    patchForAppend(bytes, 0, 0, { isLogAppendTime: true, maxTimestamp: 12345 })
    const batch = only(bytes)
    batch.verifyCrc()
    expect(batch.timestampType).toBe('LogAppendTime')
    expect(recordsOf(batch).map(({ timestamp }) => timestamp)).toEqual([12345, 12345])
    patchForAppend(bytes, 0, 0, { isLogAppendTime: false, maxTimestamp: now + 1 })
    only(bytes).verifyCrc()
    expect(recordsOf(only(bytes)).map(({ timestamp }) => timestamp)).toEqual([now, now + 1])
  })
})

describe('control batches', () => {
  it.each(['COMMIT', 'ABORT'] as const)('are read as they were written (%s)', (type) => {
    const bytes = writeEndTransactionMarker({ type, coordinatorEpoch: 6 }, { producerId: 12, producerEpoch: 3 }, now)
    const batch = only(bytes)
    batch.verifyCrc()
    expect([batch.isControl, batch.isTransactional, batch.producerId, batch.producerEpoch, batch.baseSequence]).toEqual(
      [true, true, 12, 3, -1],
    )
    expect(batch.maxTimestamp).toBe(now)
    expect(readControlBatch(batch)).toEqual({ type, coordinatorEpoch: 6 })
  })

  it('T34 of kinds that end no transaction say nothing, damaged ones are an error', () => {
    const marker = writeEndTransactionMarker(
      { type: 'COMMIT', coordinatorEpoch: 6 },
      { producerId: 1, producerEpoch: 0 },
      now,
    )
    const leaderChange = withCrc(marker, (bytes) => bytes.writeInt16BE(2, 61 + 7))
    expect(readControlBatch(only(leaderChange))).toBeNull()
    const builder = new BatchBuilder()
    builder.append(now, Buffer.from([0, 0]), null)
    const damaged = Buffer.from(builder.seal({ control: true }))
    builder.release()
    expect(() => readControlBatch(only(damaged))).toThrowError(corrupt(0, /control record has 2 bytes/))
  })
})

describe('rewriteBatch', () => {
  it('T95 changes the codec and nothing else', async () => {
    const values = Array.from({ length: 200 }, (_, i) => (i % 9 === 0 ? null : `value ${i}`))
    const stamp = { producerId: 5, producerEpoch: 2, baseSequence: 17, transactional: true }
    const zstd = codecByName('zstd')
    await zstd.load()
    const batch = only(batchBytes(values, { ...stamp, codec: codecByName('gzip') }))
    for (const codec of [codecByName('none'), codecByName('snappy'), zstd]) {
      const rewritten = only(rewriteBatch(batch, codec))
      rewritten.verifyCrc()
      expect(rewritten.codec.name).toBe(codec.name)
      const { producerId, producerEpoch, baseSequence, isTransactional, isControl, maxTimestamp } = rewritten
      expect({ producerId, producerEpoch, baseSequence, transactional: isTransactional }).toEqual(stamp)
      expect([isControl, maxTimestamp]).toEqual([false, batch.maxTimestamp])
      const shown = ({ offset, timestamp, key, value, headers }: RecordView) => ({
        offset,
        timestamp,
        key,
        value,
        headers,
      })
      expect(recordsOf(rewritten).map(shown)).toEqual(recordsOf(batch).map(shown))
    }
  })
})
