import { gzipSync } from 'node:zlib'
import * as zlib from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { BoundedOutput } from '../../../../src/protocol/records/compression/codec.js'
import { codecById, codecByName, codecNames } from '../../../../src/protocol/records/compression/index.js'
import { createZstd } from '../../../../src/protocol/records/compression/zstd.js'
import { xxhash32 } from '../../../../src/protocol/records/compression/xxhash32.js'

/** As on a Node without zstd in node:zlib. */
const zstdOfScript = createZstd({ constants: {} })
const codecs = [...codecNames.slice(1).map(codecByName), zstdOfScript]
const named = codecs.map((codec, i) => [i === 4 ? 'zstd without zlib' : codec.name, codec] as const)
const corrupt = expect.objectContaining({ code: 'CORRUPT_MESSAGE' }) as Error

beforeAll(async () => {
  for (const codec of codecs) await codec.load()
})

/** Bytes with repetitions near and far, and stretches that do not compress. */
const blob = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 4000 }))
        .map(([unit, times]) => {
          return Buffer.alloc(unit.length * times, unit)
        }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts))

function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let i = 0, seed = 1; i < length; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0
    bytes[i] = seed >>> 24
  }
  return bytes
}

describe.each(named)('%s', (_name, codec) => {
  const roundTrip = (bytes: Buffer) => codec.decompress(codec.compress(bytes), bytes.length)

  it('gives back what it was given', () => {
    fc.assert(
      fc.property(blob, (bytes) => {
        expect(roundTrip(bytes).equals(bytes)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it.each([0, 1, 4, 12, 13, 64, 32 << 10, (32 << 10) + 1, 64 << 10, (64 << 10) + 1, 300_000])(
    'holds %i bytes',
    (length) => {
      for (const bytes of [noise(length), Buffer.alloc(length), Buffer.alloc(length, 'it was the best of times, ')]) {
        expect(roundTrip(bytes).equals(bytes)).toBe(true)
      }
    },
  )

  it('makes text smaller', () => {
    const text = Buffer.from(Array.from({ length: 1000 }, (_, i) => `{"id":${i},"level":"info"}`).join('\n'))
    expect(codec.compress(text).length).toBeLessThan(text.length / 2)
  })

  it('T38 refuses what grows beyond the limit', () => {
    const bomb = codec.compress(Buffer.alloc(4 << 20))
    expect(() => codec.decompress(bomb, 1 << 20)).toThrowError(corrupt)
    expect(() => codec.decompress(bomb, (4 << 20) - 1)).toThrowError(/more than the limit of 4194303 bytes/)
    expect(codec.decompress(bomb, 4 << 20).length).toBe(4 << 20)
  })

  it('answers damage with an error of its own or with other bytes, never with anything else', () => {
    const whole = codec.compress(Buffer.concat([noise(500), Buffer.alloc(2000, 'abcdefgh'), noise(100)]))
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(whole)
        damaged[at]! ^= change
        expect(outcome(() => codec.decompress(damaged, 1 << 16))).toMatch(/^(bytes|CORRUPT_MESSAGE)$/)
      }),
      { numRuns: 300 },
    )
  })

  it('answers truncation with an error', () => {
    const whole = codec.compress(Buffer.concat([noise(500), Buffer.alloc(2000, 'abcdefgh')]))
    // Java's framing of snappy does not say where it ends.
    const allowed = codec.name === 'snappy' ? /^(bytes|CORRUPT_MESSAGE)$/ : /^CORRUPT_MESSAGE$/
    for (let length = 0; length < whole.length; length++) {
      expect(outcome(() => codec.decompress(whole.subarray(0, length), 1 << 16))).toMatch(allowed)
    }
  })

  it('answers random bytes with an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(outcome(() => codec.decompress(bytes, 1 << 16))).toMatch(/^(bytes|CORRUPT_MESSAGE)$/)
      }),
    )
  })
})

function outcome(decompress: () => Buffer): string {
  try {
    return Buffer.isBuffer(decompress()) ? 'bytes' : 'something else'
  } catch (error) {
    return (error as { code?: string }).code ?? `a foreign error: ${String(error)}`
  }
}

describe('the table of codecs', () => {
  it('has the ids of the record format', () => {
    expect(codecNames.map((name) => codecByName(name).id)).toEqual([0, 1, 2, 3, 4])
    expect([0, 1, 2, 3, 4].map((id) => codecById(id).name)).toEqual([...codecNames])
  })

  it('T94 knows no codec with an id of 5 to 7', () => {
    for (const id of [5, 6, 7]) {
      expect(() => codecById(id)).toThrowError(expect.objectContaining({ code: 'UNSUPPORTED_COMPRESSION_TYPE' }))
    }
    expect(() => codecByName('brotli' as 'gzip')).toThrowError(/brotli/)
  })
})

describe('gzip', () => {
  it('reads several members and takes a level', () => {
    const gzip = codecByName('gzip')
    const two = Buffer.concat([gzipSync('one '), gzipSync('two')])
    expect(gzip.decompress(two, 100).toString()).toBe('one two')
    const text = Buffer.from(Array.from({ length: 500 }, (_, i) => `line ${(i * 7919) % 503}`).join('\n'))
    expect(gzip.compress(text, 6).length).toBeLessThan(gzip.compress(text, 0).length)
  })
})

describe('snappy', () => {
  const snappy = codecByName('snappy')

  it('reads a raw block, as librdkafka and Go clients write it', () => {
    // 11 bytes: the literal "abc", then a copy of 8 from 3 back.
    expect(snappy.decompress(Buffer.from([11, 0x08, 0x61, 0x62, 0x63, 0x11, 3]), 100).toString()).toBe('abcabcabcab')
    expect(snappy.decompress(Buffer.from([0]), 100)).toHaveLength(0)
  })

  it("writes the Java library's framing, in blocks of 32 KiB", () => {
    const framed = snappy.compress(noise(70_000))
    expect(framed.subarray(0, 16).toString('hex')).toBe('82534e41505059000000000100000001')
    let blocks = 0
    for (let p = 16; p < framed.length; p += 4 + framed.readInt32BE(p)) blocks++
    expect(blocks).toBe(3)
  })

  it('does not allocate what a few bytes claim to hold', () => {
    expect(() => snappy.decompress(Buffer.from([0xff, 0xff, 0xff, 0x7f, 0, 1]), 1 << 30)).toThrowError(/cannot hold/)
  })
})

describe('lz4', () => {
  const lz4 = codecByName('lz4')

  it('T93 writes one frame of independent blocks of 64 KiB, and what does not compress as it is', () => {
    const frame = lz4.compress(noise(100_000))
    expect(frame.subarray(0, 7).toString('hex')).toBe('04224d18604082')
    expect(frame.readUInt32LE(7)).toBe((0x80000000 | (64 << 10)) >>> 0)
    expect(frame.readUInt32LE(frame.length - 4)).toBe(0)
  })

  it('T93 reads several frames and skips those that are to be skipped', () => {
    const skippable = Buffer.from('502a4d1803000000aabbcc', 'hex')
    const frames = [skippable, lz4.compress(Buffer.from('one ')), skippable, lz4.compress(Buffer.from('two'))]
    expect(lz4.decompress(Buffer.concat(frames), 100).toString()).toBe('one two')
    expect(() => lz4.decompress(Buffer.concat([...frames, Buffer.from([1])]), 100)).toThrowError(corrupt)
  })

  it('refuses a content size that the bytes cannot hold, and a dictionary', () => {
    const sized = Buffer.from('04224d18684000000000010000000000000000', 'hex')
    sized[14] = (xxhash32(sized, 4, 14) >>> 8) & 0xff
    expect(() => lz4.decompress(sized, 2 ** 40)).toThrowError(/cannot hold/)
    const dictionary = Buffer.from('04224d186140000000010000000000', 'hex')
    dictionary[10] = (xxhash32(dictionary, 4, 10) >>> 8) & 0xff
    expect(() => lz4.decompress(dictionary, 100)).toThrowError(/dictionary/)
  })
})

describe('xxhash32', () => {
  it.each([
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0xe2293b2f],
  ])('of %j', (text, expected) => {
    expect(xxhash32(Buffer.from(`x${text}x`), 1, 1 + Buffer.byteLength(text))).toBe(expected)
  })
})

describe('zstd', () => {
  const both = [codecByName('zstd'), zstdOfScript]

  it('T91 reads several frames, empty and skippable ones among them', async () => {
    for (const zstd of both) {
      const skippable = Buffer.from('5f2a4d1802000000aabb', 'hex')
      const frames = ['one ', '', 'two '.repeat(50_000), 'three'].map((text) => zstd.compress(Buffer.from(text)))
      const all = Buffer.concat([skippable, ...frames, skippable])
      for (const reader of both) {
        expect(reader.decompress(all, 1 << 20).toString()).toBe(`one ${'two '.repeat(50_000)}three`)
      }
    }
  })

  it('reads on one way what the other wrote', () => {
    const bytes = Buffer.concat([noise(1000), Buffer.alloc(400_000, 'to and fro '), noise(200_000)])
    for (const writer of both) {
      for (const level of [1, 3, 9]) {
        const written = writer.compress(bytes, level)
        for (const reader of both) expect(reader.decompress(written, bytes.length).equals(bytes)).toBe(true)
      }
    }
  })

  it('T38 refuses a bomb of blocks that repeat a byte without decoding it', () => {
    // Frame header with a window of 128 KiB, then 20,000 blocks of 128 KiB of one byte each: 80 KB for 2.6 GB.
    const block = Buffer.from([0x02, 0x00, 0x10, 0x41])
    const bomb = Buffer.concat([Buffer.from('28b52ffd0038', 'hex'), ...Array.from({ length: 20_000 }, () => block)])
    bomb[bomb.length - 4]! |= 1
    for (const zstd of both) expect(() => zstd.decompress(bomb, 1 << 20)).toThrowError(/more than the limit/)
  })

  it('does not allocate the window or the content size of a header that holds nothing', () => {
    // A window of 2 GiB before one raw block of three bytes.
    const window = Buffer.from('28b52ffd00a8190000616263', 'hex')
    for (const zstd of both) expect(zstd.decompress(window, 1 << 20).toString()).toBe('abc')
    // A content size of 1 GiB in a single segment with the same block.
    const content = Buffer.from('28b52ffda000000040190000616263', 'hex')
    for (const zstd of both) expect(() => zstd.decompress(content, 2 ** 31)).toThrowError(/cannot hold/)
  })

  it('T38 is not kept busy by sequences that make far more than a block can hold', () => {
    // A raw block "a", then a block of one literal and 20,000 sequences, each a match of 65,539 bytes or more, 18 bits long.
    const sequences = Buffer.alloc(45_000, 0xff)
    const body = Buffer.concat([Buffer.from([0x08, 0x61, 0xce, 0x20, 0x54, 0, 2, 52]), sequences])
    const header = Buffer.alloc(3)
    header.writeUIntLE((body.length << 3) | (2 << 1) | 1, 0, 3)
    const frame = Buffer.concat([Buffer.from('28b52ffd003808000061', 'hex'), header, body])
    for (const zstd of both) expect(() => zstd.decompress(frame, 1 << 30)).toThrowError(corrupt)
    expect(() => zstdOfScript.decompress(frame, 1 << 30)).toThrowError(/a block is too large/)
  })

  it('has nothing to load where node:zlib has zstd, and says so where it has not', () => {
    const hasZlib = 'zstdCompressSync' in zlib
    expect(codecByName('zstd').load()).toBe(null)
    expect(createZstd(hasZlib ? (zlib as never) : { constants: {} }).load() === null).toBe(hasZlib)
    expect(() => createZstd({ constants: {} }).compress(Buffer.from('x'))).toThrowError(/await load\(\) first/)
  })
})

describe('BoundedOutput', () => {
  it('does not keep much more memory than what was written', () => {
    const out = new BoundedOutput('lz4', 1 << 20, 1 << 16)
    out.append(Buffer.from('abc'))
    expect(out.finish().buffer.byteLength).toBe(3)
  })
})
