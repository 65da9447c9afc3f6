// Bytes that are not the message they should be give a KafkaError: no foreign exception, no hang, no memory beyond the input's size.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isKafkaError, KafkaError } from '../../../src/errors.js'
import { DeleteRecords } from '../../../src/protocol/messages/delete-records.js'
import { Fetch } from '../../../src/protocol/messages/fetch.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { readRequestHeader, skipRequestTags } from '../../../src/protocol/wire/frame.js'
import { int64Max, Reader, Writer } from '../../../src/protocol/wire/index.js'
import { decode, declaredMessages, fixtures, versionsOf } from './wire-fixtures.js'

/** What reading gave: a value, or an error that must be ours. */
function outcome(read: () => unknown): 'read' | 'refused' {
  try {
    read()
    return 'read'
  } catch (error) {
    if (!isKafkaError(error)) throw error
    expect(error.code).toBe('MALFORMED_MESSAGE')
    return 'refused'
  }
}

describe.each(declaredMessages)('$name $of', ({ name, of, message }) => {
  const recorded = fixtures.get(name)!.filter((fixture) => fixture.of === of)

  test('is refused when its bytes end early, wherever that is', () => {
    for (const { version, bytes } of recorded) {
      const whole = Buffer.from(bytes, 'base64')
      for (let length = 0; length < whole.length; length++) {
        const cut = Buffer.from(whole.subarray(0, length))
        expect(() => decode(message, version, cut), `${length} of ${whole.length} bytes`).toThrow(KafkaError)
      }
    }
  })

  test('is read or refused when bytes of it are changed', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff))
    fc.assert(
      fc.property(
        fc.constantFrom(...recorded),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        (fixture, changes) => {
          const bytes = Buffer.from(fixture.bytes, 'base64')
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte
          outcome(() => message.read(new Reader(bytes), fixture.version))
        },
      ),
      { seed: 1, numRuns: 300 },
    )
  })

  test('is read or refused when it is any bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...versionsOf(message)), fc.uint8Array({ maxLength: 200 }), (version, bytes) => {
        outcome(() => message.read(new Reader(Buffer.from(bytes)), version))
      }),
      { seed: 2, numRuns: 200 },
    )
  })
})

test('a request header of any bytes is read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      outcome(() => {
        const reader = new Reader(Buffer.from(bytes))
        readRequestHeader(reader)
        skipRequestTags(reader, Metadata, 12)
      })
    }),
    { seed: 3, numRuns: 1000 },
  )
})

describe('a length that the bytes cannot hold is refused before anything is allocated for it', () => {
  const claim = 0x7fffffff

  test('of an array', () => {
    const writer = new Writer()
    writer.int32(claim)
    writer.bytes(Buffer.alloc(64))
    const bytes = Buffer.concat(writer.finish())
    expect(() => Metadata.request.read(new Reader(bytes), 4)).toThrow(/2147483647/)
  })

  test('of a compact array', () => {
    const writer = new Writer()
    writer.uvarint(claim)
    writer.bytes(Buffer.alloc(64))
    const bytes = Buffer.concat(writer.finish())
    expect(() => Metadata.request.read(new Reader(bytes), 12)).toThrow(/2147483646/)
  })

  test('of a tagged field, known or not', () => {
    for (const tag of [0, 99]) {
      const writer = new Writer()
      const head = Buffer.from(
        fixtures.get('Fetch')!.find((f) => f.version === 12 && f.variant === 'bare')!.bytes,
        'base64',
      )
      writer.bytes(head.subarray(0, -1)) // the last byte is the count of tagged fields
      writer.uvarint(1)
      writer.uvarint(tag)
      writer.uvarint(claim)
      writer.bytes(Buffer.alloc(64))
      const bytes = Buffer.concat(writer.finish())
      expect(() => Fetch.request.read(new Reader(bytes), 12)).toThrow(/2147483647/)
    }
  })

  test('of a count of tagged fields', () => {
    const head = Buffer.from(
      fixtures.get('Fetch')!.find((f) => f.version === 12 && f.variant === 'bare')!.bytes,
      'base64',
    )
    const writer = new Writer()
    writer.bytes(head.subarray(0, -1))
    writer.uvarint(claim)
    const bytes = Buffer.concat(writer.finish())
    expect(outcome(() => Fetch.request.read(new Reader(bytes), 12))).toBe('refused')
  })
})

test('tagged fields that nobody knows are skipped, wherever they stand', () => {
  const whole = Buffer.from(
    fixtures.get('Fetch')!.find((f) => f.version === 12 && f.variant === 'bare')!.bytes,
    'base64',
  )
  const writer = new Writer()
  writer.bytes(whole.subarray(0, -1))
  writer.uvarint(2)
  writer.uvarint(77)
  writer.uvarint(3)
  writer.bytes(Buffer.from('abc'))
  writer.uvarint(78)
  writer.uvarint(0)
  const bytes = Buffer.concat(writer.finish())
  expect(decode(Fetch.request as never, 12, bytes)).toEqual(decode(Fetch.request as never, 12, whole))
})

test('a tagged field whose size is not that of its value is refused', () => {
  const whole = Buffer.from(
    fixtures.get('Fetch')!.find((f) => f.version === 12 && f.variant === 'bare')!.bytes,
    'base64',
  )
  const tagged = (size: number): Buffer => {
    const clusterId = Buffer.from([0x05, ...Buffer.from('main'), 0])
    return Buffer.concat([whole.subarray(0, -1), Buffer.from([1, 0, size]), clusterId.subarray(0, size)])
  }
  expect(decode(Fetch.request as never, 12, tagged(5))).toMatchObject({ clusterId: 'main' })
  expect(() => decode(Fetch.request as never, 12, tagged(6))).toThrow(/tagged field 0/)
})

test('an int64 outside the safe integers is refused, but for the largest of all', () => {
  const withOffset = (offset: bigint): Buffer => {
    const bytes = Buffer.alloc(31)
    bytes.writeInt32BE(1, 0) // topics
    bytes.writeInt16BE(1, 4) // name
    bytes.write('t', 6)
    bytes.writeInt32BE(1, 7) // partitions
    bytes.writeBigInt64BE(offset, 15)
    return bytes
  }
  const read = (offset: bigint) =>
    DeleteRecords.request.read(new Reader(withOffset(offset)), 0).topics[0]?.partitions[0]?.offset
  expect(read(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER)
  expect(read(1n - 2n ** 53n)).toBe(Number.MIN_SAFE_INTEGER)
  expect(read(2n ** 63n - 1n)).toBe(int64Max)
  for (const unsafe of [2n ** 53n, -(2n ** 53n), 2n ** 63n - 2n, -(2n ** 63n)]) {
    expect(() => read(unsafe)).toThrow(expect.objectContaining({ code: 'MALFORMED_MESSAGE' }))
  }
})
