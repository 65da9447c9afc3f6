import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BatchBuilder,
  codecByName,
  codecNames,
  recordsOf,
  splitBatches,
  type BytesInput,
  type HeadersInput,
  type RecordView,
} from '../../../src/protocol/records/index.js'

const where = { topic: 'orders', partition: 0 }
const now = 1_700_000_000_000

function read(bytes: Buffer): RecordView[] {
  return splitBatches(bytes, where).flatMap((batch) => {
    batch.verifyCrc()
    return recordsOf(batch)
  })
}

function bytesOf(input: BytesInput): Buffer | null {
  return input === null ? null : Buffer.from(input as string)
}

const bytesInput = fc.oneof(
  fc.constant(null),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ maxLength: 60 }),
  fc.uint8Array({ maxLength: 100 }),
  fc.integer({ min: 4000, max: 5000 }).map((length) => 'ü'.repeat(length)),
)
const record = fc.record({
  timestamp: fc.oneof(
    fc.integer({ min: now - 100_000, max: now + 100_000 }),
    fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
  ),
  key: bytesInput,
  value: bytesInput,
  headers: fc.array(fc.record({ key: fc.string({ unit: 'grapheme', maxLength: 12 }), value: bytesInput }), {
    maxLength: 3,
  }),
})

describe('BatchBuilder', () => {
  it('writes what is read back, and counts the bytes exactly', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 80 }), (inputs) => {
        const builder = new BatchBuilder()
        for (const { timestamp, key, value, headers } of inputs) {
          const before = builder.sizeInBytes
          builder.append(timestamp, key, value, headers)
          expect(builder.sizeInBytes - before).toBeLessThanOrEqual(BatchBuilder.sizeOf(key, value, headers) - 61 + 10)
        }
        const size = builder.sizeInBytes
        const sealed = builder.seal()
        expect(sealed.length).toBe(size)
        const records = read(sealed)
        expect(records).toHaveLength(inputs.length)
        inputs.forEach(({ timestamp, key, value, headers }, i) => {
          const got = records[i]!
          expect([got.offset, got.timestamp]).toEqual([i, timestamp])
          expect([got.key, got.value]).toEqual([bytesOf(key), bytesOf(value)])
          expect(got.headers).toEqual(headers.map((header) => ({ key: header.key, value: bytesOf(header.value) })))
        })
        builder.release()
      }),
      { numRuns: 100 },
    )
  })

  it('T19 keeps null and empty apart in keys, values and headers', () => {
    const builder = new BatchBuilder()
    builder.append(now, null, null)
    builder.append(now, '', '')
    builder.append(now, Buffer.alloc(0), new Uint8Array(0), [])
    expect(read(builder.seal()).map(({ key, value, headers }) => [key, value, headers])).toEqual([
      [null, null, []],
      [Buffer.alloc(0), Buffer.alloc(0), []],
      [Buffer.alloc(0), Buffer.alloc(0), []],
    ])
    builder.release()
  })

  it('T18 keeps headers in order, with duplicates, null, empty, zero bytes and an empty key', () => {
    const headers = [
      { key: 'a', value: null },
      { key: 'b', value: '' },
      { key: 'a', value: Buffer.from([0, 1, 0]) },
      { key: '', value: 'x' },
    ]
    const builder = new BatchBuilder()
    builder.append(now, null, 'v', headers)
    const [got] = read(builder.seal())
    expect(got!.headers).toEqual(headers.map(({ key, value }) => ({ key, value: bytesOf(value) })))
    expect(got!.header('a')).toEqual(Buffer.from([0, 1, 0]))
    expect(got!.header('b')).toEqual(Buffer.alloc(0))
    expect(got!.header('c')).toBeUndefined()
    builder.release()
  })

  it('takes headers from an object, too', () => {
    const builder = new BatchBuilder()
    builder.append(now, 'k', 'v', { trace: 't-1', none: null })
    builder.append(now, 'k', 'v', {})
    expect(read(builder.seal()).map(({ headers }) => headers)).toEqual([
      [
        { key: 'trace', value: Buffer.from('t-1') },
        { key: 'none', value: null },
      ],
      [],
    ])
    builder.release()
  })

  it('T18 refuses what is neither text, bytes nor null, and names it', () => {
    const builder = new BatchBuilder()
    const wrong = (value: unknown) => value as string
    const headers = (value: unknown) => ({ trace: value }) as HeadersInput
    expect(() => builder.append(now, wrong(undefined), null)).toThrowError(/key must be .* got undefined/)
    expect(() => builder.append(now, null, wrong(7))).toThrowError(/value must be .* got number/)
    expect(() => builder.append(now, null, null, headers(undefined))).toThrowError(
      /header 'trace' must be .* got undefined/,
    )
    expect(() => builder.append(now, null, null, [{ key: wrong(1), value: null }])).toThrowError(/key of header 0/)
    expect(() => builder.append(1.5, null, null)).toThrowError(/timestamp must be an integer, got 1.5/)
    expect(builder.count).toBe(0)
    builder.release()
  })

  it('takes no record beyond its limit, but any as the first', () => {
    const first = new BatchBuilder(100)
    expect(first.append(now, null, 'x'.repeat(500))).toBe(0)
    expect(first.append(now, null, 'x')).toBe(-1)
    first.release()

    for (const character of ['x', 'é', '€', '😀']) {
      const value = character.repeat(10)
      const size = BatchBuilder.sizeOf(null, value) - 61
      const builder = new BatchBuilder(61 + 3 * size)
      expect([0, 1, 2, 3].map(() => builder.append(now, null, value))).toEqual([0, 1, 2, -1])
      expect(builder.sizeInBytes).toBeLessThanOrEqual(61 + 3 * size)
      expect(read(builder.seal()).map((got) => got.value!.toString())).toEqual([value, value, value])
      builder.release()
    }
  })

  it('writes text as UTF-8, with the replacement character for half a surrogate pair', () => {
    const builder = new BatchBuilder()
    const values = ['plain', 'naïve', '…'.repeat(30), `${'a'.repeat(30)}é`, 'half \ud800 pair', 'x'.repeat(5000)]
    for (const value of values) builder.append(now, value, value)
    const records = read(builder.seal())
    expect(records.map(({ value }) => value)).toEqual(values.map((value) => Buffer.from(value)))
    expect(records.map(({ key }) => key)).toEqual(values.map((value) => Buffer.from(value)))
    builder.release()
  })

  it('loses a record that is cut, and nothing else', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 }), fc.array(fc.nat(149), { maxLength: 5 }), (count, cuts) => {
        const builder = new BatchBuilder()
        const left: { timestamp: number; value: string }[] = []
        for (let i = 0; i < count; i++) {
          const timestamp = now + ((i * 7919) % 100_003) - 50_000
          left.push({ timestamp, value: `record ${i}` })
          builder.append(timestamp, null, `record ${i}`, i % 3 === 0 ? { n: String(i) } : undefined)
        }
        for (const cut of cuts) {
          const index = cut % left.length
          if (left.length === 1) break
          builder.cut(index)
          left.splice(index, 1)
        }
        left.push({ timestamp: now, value: 'after' })
        expect(builder.append(now, null, 'after')).toBe(left.length - 1)
        const size = builder.sizeInBytes
        const sealed = builder.seal()
        expect(sealed.length).toBe(size)
        const [batch] = splitBatches(sealed, where)
        expect(batch!.recordCount).toBe(left.length)
        expect(batch!.lastOffset).toBe(left.length - 1)
        expect(batch!.maxTimestamp).toBe(Math.max(...left.map(({ timestamp }) => timestamp)))
        const records = read(sealed)
        expect(records.map(({ offset }) => offset)).toEqual(left.map((_, i) => i))
        expect(records.map((got) => ({ timestamp: got.timestamp, value: got.value!.toString() }))).toEqual(left)
        builder.release()
      }),
      { numRuns: 100 },
    )
  })

  it('can be cut to nothing and filled again', () => {
    const builder = new BatchBuilder()
    builder.append(now, 'k', 'v')
    builder.cut(0)
    expect([builder.count, builder.sizeInBytes]).toEqual([0, 61])
    expect(() => builder.seal()).toThrowError(/without records/)
    builder.append(now + 5, null, 'next')
    const [got] = read(builder.seal())
    expect([got!.timestamp, got!.offset, got!.value!.toString()]).toEqual([now + 5, 0, 'next'])
    builder.release()
  })

  it('T02 keeps its bytes once sealed, and takes another producer id, epoch and sequence only when sealed again', () => {
    const builder = new BatchBuilder()
    builder.append(now, 'k', 'v')
    const sealed = builder.seal({ producerId: 7, producerEpoch: 1, baseSequence: 40, transactional: true })
    const before = Buffer.from(sealed)
    expect(() => builder.append(now, 'k', 'v')).toThrowError(/sealed/)
    expect(() => builder.cut(0)).toThrowError(/sealed/)
    expect(() => builder.seal()).toThrowError(/sealed already/)
    expect(sealed.equals(before)).toBe(true)
    const again = builder.reseal({ producerId: 2 ** 40 + 3, producerEpoch: 0, baseSequence: 0 })
    const [batch] = splitBatches(again, where)
    batch!.verifyCrc()
    expect([batch!.producerId, batch!.producerEpoch, batch!.baseSequence]).toEqual([2 ** 40 + 3, 0, 0])
    expect([batch!.isTransactional, batch!.isControl, batch!.leaderEpoch, batch!.baseOffset]).toEqual([
      true,
      false,
      -1,
      0,
    ])
    expect(recordsOf(batch!)[0]!.value).toEqual(Buffer.from('v'))
    builder.release()
    builder.release()
  })

  it.each(codecNames)('compresses when it is sealed (%s)', async (name) => {
    const codec = codecByName(name)
    await codec.load()
    const builder = new BatchBuilder()
    const values = Array.from({ length: 3000 }, (_, i) => `{"order":${i},"customer":"c-${i % 50}"}`)
    for (const value of values) builder.append(now, null, value)
    const uncompressed = builder.sizeInBytes
    const sealed = builder.seal({ codec, producerId: 3, producerEpoch: 0, baseSequence: 9 })
    expect(builder.sizeInBytes).toBe(sealed.length)
    if (name !== 'none') expect(sealed.length).toBeLessThan(uncompressed / 2)
    const [batch] = splitBatches(sealed, where)
    expect(batch!.codec.name).toBe(name)
    expect([batch!.recordCount, batch!.producerId, batch!.baseSequence]).toEqual([3000, 3, 9])
    expect(read(sealed).map(({ value }) => value!.toString())).toEqual(values)
    expect(read(builder.reseal({ producerId: 4, producerEpoch: 0, baseSequence: 0 }))).toHaveLength(3000)
    builder.release()
  })

  it('sends what would not get smaller uncompressed', () => {
    const builder = new BatchBuilder()
    builder.append(now, null, 'x')
    const [batch] = splitBatches(builder.seal({ codec: codecByName('gzip') }), where)
    expect(batch!.codec.name).toBe('none')
    expect(recordsOf(batch!)[0]!.value!.toString()).toBe('x')
    builder.release()
  })

  it('gives its memory to the next batch when it is released', () => {
    const first = new BatchBuilder(1 << 18, 1 << 18)
    first.append(now, null, 'x')
    const memory = first.seal().buffer
    first.release()
    const second = new BatchBuilder(1 << 18, 1 << 18)
    second.append(now, null, 'y')
    expect(second.seal().buffer).toBe(memory)
    second.release()
  })
})
