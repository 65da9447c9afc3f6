import { describe, expect, it } from 'vitest'
import {
  array,
  bytes,
  float64,
  int32,
  int64,
  int64Max,
  message,
  Reader,
  records,
  string,
  struct,
  uint16,
  uuid,
  Writer,
  zeroUuid,
  type Fields,
  type InOf,
  type Message,
} from '../../../src/protocol/wire/index.js'

function written<F extends Fields>(declared: Message<F>, version: number, value: InOf<F>): Buffer {
  const writer = new Writer(1)
  declared.write(writer, version, value)
  const whole = Buffer.concat(writer.finish())
  expect(writer.length).toBe(whole.length)
  return whole
}

const sample = message({
  name: 'Sample',
  versions: '0-3',
  flexible: '2+',
  fields: {
    name: string,
    rack: string.nullable('1+').default(null).in('1+').ignorable(),
    limit: int32.in('2+').default(5),
    note: string.tagged(0, '2+').in('2+'),
    items: array({ id: int64, data: bytes }).nullable('1+'),
    owner: struct({ id: uuid }).nullable().default(null).in('3+'),
  },
})

describe('a declared message', () => {
  it('reads absent fields as fresh defaults, in the order of their declaration', () => {
    const bytesOfV0 = written(sample, 0, { name: 'a', items: [] })
    const first = sample.read(new Reader(bytesOfV0), 0)
    expect(first).toEqual({ name: 'a', rack: null, limit: 5, note: '', items: [], owner: null })
    expect(Object.keys(first)).toEqual(['name', 'rack', 'limit', 'note', 'items', 'owner'])
    expect(sample.read(new Reader(bytesOfV0), 0).items).not.toBe(first.items)
  })

  it('round-trips everything in its newest version', () => {
    const value = {
      name: 'ä',
      rack: 'r1',
      limit: -1,
      note: 'tagged',
      items: [{ id: int64Max, data: Buffer.from([1, 2]) }],
      owner: { id: 'AAECAwQFBgcICQoLDA0ODw' },
    }
    expect(sample.read(new Reader(written(sample, 3, value)), 3)).toEqual(value)
  })

  it('refuses a set field that the version lacks, unless it may be ignored', () => {
    expect(() => written(sample, 1, { name: 'a', items: [], limit: 6 })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_VERSION', message: expect.stringContaining('limit') as string }),
    )
    expect(sample.read(new Reader(written(sample, 0, { name: 'a', items: [], rack: 'r' })), 0).rack).toBeNull()
    expect(() => written(sample, 1, { name: 'a', items: [], limit: 5, note: '' })).not.toThrow()
  })

  it('refuses null where the version does not allow it', () => {
    expect(() => written(sample, 0, { name: 'a', items: null })).toThrow(/items must not be null/)
    expect(sample.read(new Reader(written(sample, 1, { name: 'a', items: null })), 1).items).toBeNull()
  })

  it('refuses a version that it does not have', () => {
    expect(() => written(sample, 4, { name: 'a', items: [] })).toThrow(/versions 0-3, not 4/)
  })

  it('skips tagged fields that it does not know', () => {
    const known = written(sample, 2, { name: 'a', items: [] })
    expect(known.at(-1)).toBe(0) // no tags
    const withUnknown = Buffer.concat([known.subarray(0, -1), Buffer.from([1, 9, 2, 0xca, 0xfe])])
    expect(sample.read(new Reader(withUnknown), 2).note).toBe('')
  })

  it.each([
    ['an array longer than the bytes left', Buffer.from([0, 1, 97, 0x7f, 0xff, 0xff, 0xff])],
    ['a string longer than the bytes left', Buffer.from([0x7f, 0xff, 97])],
    ['a negative length where null is not allowed', Buffer.from([0xff, 0xff])],
    ['nothing', Buffer.alloc(0)],
  ])('refuses %s', (_, input) => {
    expect(() => sample.read(new Reader(input), 0)).toThrow(expect.objectContaining({ code: 'MALFORMED_MESSAGE' }))
  })
})

describe('record sets', () => {
  const declared = message({
    name: 'Set',
    versions: '0',
    flexible: 'none',
    fields: { before: int32, set: records, after: int32 },
  })

  it('are written without a copy, in one piece or several, and read as a view', () => {
    const pieces: Uint8Array[] = [Buffer.from('abc'), Buffer.from('de')]
    const writer = new Writer()
    declared.write(writer, 0, { before: 1, set: pieces, after: 2 })
    const chunks = writer.finish()
    expect(chunks.filter((chunk) => pieces.includes(chunk))).toEqual(pieces)
    const frame = Buffer.concat(chunks)
    const { set, after } = declared.read(new Reader(frame), 0)
    expect(set.toString()).toBe('abcde')
    expect(set.buffer).toBe(frame.buffer)
    expect(after).toBe(2)
  })
})

describe('int64', () => {
  const declared = message({ name: 'Long', versions: '0', flexible: 'none', fields: { value: int64 } })
  const read = (hex: string) => declared.read(new Reader(Buffer.from(hex, 'hex')), 0).value

  it.each([0, 1, -1, 2 ** 32, -(2 ** 32), 2 ** 53 - 1, -(2 ** 53) + 1, int64Max])('T127 keeps %d exactly', (value) => {
    expect(read(written(declared, 0, { value }).toString('hex'))).toBe(value)
  })

  it('T127 throws rather than lose precision', () => {
    expect(() => read('0020000000000001')).toThrow(/9007199254740993 is outside the safe integers/)
    expect(() => written(declared, 0, { value: 2 ** 53 })).toThrow(/safe integer/)
  })
})

describe('uuids', () => {
  it('are 22 characters of base64, as Kafka prints them', () => {
    const declared = message({ name: 'Id', versions: '0', flexible: 'none', fields: { id: uuid } })
    expect(written(declared, 0, { id: zeroUuid })).toEqual(Buffer.alloc(16))
    expect(() => written(declared, 0, { id: 'short' })).toThrow(/UUID/)
  })
})

describe('numbers of the kinds that only few messages have', () => {
  const numbers = message({
    name: 'Numbers',
    versions: '0',
    flexible: 'none',
    fields: { port: uint16, ratio: float64 },
  })

  it.each([
    { port: 0, ratio: 0.1 },
    { port: 65_535, ratio: -1.5e-300 },
  ])('a uint16 and a float64 are written big-endian and read back: $port, $ratio', (value) => {
    const bytes = written(numbers, 0, value)
    expect(bytes.readUInt16BE(0)).toBe(value.port)
    expect(bytes.readDoubleBE(2)).toBe(value.ratio)
    expect(numbers.read(new Reader(bytes), 0)).toEqual(value)
  })
})
