// The serdes: their bytes are those of Kafka's own serializers, and what they cannot take they refuse.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytes,
  float64,
  int32,
  int64,
  json,
  string,
  topic,
  topicName,
  uuid,
  type Serde,
} from '../../../src/client/serde/index.js'

function there<T>(serde: Serde<T, unknown>, value: T): Buffer {
  const written = serde.serialize(value)
  if (written === null) throw new Error('null')
  return typeof written === 'string' ? Buffer.from(written) : Buffer.from(written)
}

describe('serdes', () => {
  it.each([
    ['string', string(), fc.string({ unit: 'grapheme' })],
    ['int32', int32(), fc.integer()],
    ['int64', int64(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ['float64', float64(), fc.double()],
    [
      'json',
      json<unknown>(),
      fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    ],
    ['uuid', uuid(), fc.uuid()],
  ] as [string, Serde<unknown>, fc.Arbitrary<unknown>][])('%s gives back what it was given', (_name, serde, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(serde.deserialize(there(serde, value))).toEqual(value)
      }),
    )
  })

  it("have the bytes of Kafka's IntegerSerializer, LongSerializer, DoubleSerializer and UUIDSerializer", () => {
    expect(there(int32(), -2).toString('hex')).toBe('fffffffe')
    expect(there(int64(), 258n).toString('hex')).toBe('0000000000000102')
    expect(there(float64(), 1.5).toString('hex')).toBe('3ff8000000000000')
    expect(there(uuid(), '123E4567-e89b-12d3-a456-426614174000').toString()).toBe(
      '123e4567-e89b-12d3-a456-426614174000',
    )
  })

  it.each([
    ['string', string(), 7, 'a string'],
    ['bytes', bytes(), 'text', 'a Uint8Array'],
    ['int32', int32(), 2 ** 31, 'a 32-bit integer'],
    ['int32', int32(), 1.5, 'a 32-bit integer'],
    ['int64', int64(), 1, 'a bigint of 64 bits'],
    ['int64', int64(), 2n ** 63n, 'a bigint of 64 bits'],
    ['float64', float64(), '1', 'a number'],
    ['json', json(), undefined, 'something that JSON can hold'],
    ['uuid', uuid(), 'no uuid', 'a UUID'],
  ] as [string, Serde<unknown>, unknown, string][])(
    '%s refuses what it cannot write (%#)',
    (_name, serde, value, wanted) => {
      expect(() => serde.serialize(value)).toThrow(wanted)
    },
  )

  it.each([
    ['int32', int32(), '000001'],
    ['int64', int64(), '00000001'],
    ['float64', float64(), ''],
    ['uuid', uuid(), '00'],
  ] as [string, Serde<unknown>, string][])('%s refuses bytes that are not its own', (_name, serde, hex) => {
    expect(() => serde.deserialize(Buffer.from(hex, 'hex'))).toThrow(
      expect.objectContaining({ code: 'MALFORMED_MESSAGE' }) as Error,
    )
  })
})

describe('topic names', () => {
  it.each(['', '.', '..', 'a b', 'ü', 'x'.repeat(250)])('%j is refused', (name) => {
    expect(() => topic(name)).toThrow('a topic name is')
  })

  it('are found in both ways of naming a topic', () => {
    expect(topicName('__proto__')).toBe('__proto__')
    expect(topicName(topic('orders'))).toBe('orders')
    expect(() => topicName({} as never)).toThrow('a topic name is')
  })
})
