import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32c, crc32cOfScript } from '../../../src/protocol/records/crc32c.js'

/** The definition, a bit at a time. */
function slowCrc32c(bytes: Uint8Array): number {
  let c = -1
  for (const byte of bytes) {
    c ^= byte
    for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1
  }
  return ~c >>> 0
}

describe('crc32c', () => {
  it.each([
    [Buffer.from('123456789'), 0xe3069283],
    [Buffer.alloc(32), 0x8a9136aa],
    [Buffer.alloc(32, 0xff), 0x62a8ab43],
    [Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
    [Buffer.alloc(0), 0],
  ])('gives the published checksums (%#)', (bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected)
  })

  it('agrees with the definition for any length at any alignment', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(7), fc.nat(7), (bytes, before, after) => {
        const buffer = Buffer.concat([Buffer.alloc(before, 1), bytes, Buffer.alloc(after, 2)])
        expect(crc32cOfScript(buffer, before, before + bytes.length, 0)).toBe(slowCrc32c(bytes))
      }),
    )
  })

  it('goes on from the checksum of what came before', () => {
    const bytes = Buffer.from('the quick brown fox jumps over the lazy dog'.repeat(100))
    for (const cut of [0, 1, 17, 1000, 2048, bytes.length]) {
      expect(crc32c(bytes, cut, bytes.length, crc32c(bytes, 0, cut))).toBe(slowCrc32c(bytes))
    }
  })
})
