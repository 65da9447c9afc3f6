// The log in memory against a list of batches: whatever is appended, read and forgotten, both say the same.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../src/broker/log/memory-log.js'
import { patchForAppend, splitBatches } from '../../src/protocol/records/index.js'
import { batchOf } from './produce-fetch-lab.js'

interface Kept {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly maxTimestamp: number
  readonly bytes: Buffer
}

const where = { topic: 't', partition: 0 }

/** The simplest thing that could be right. */
class Model {
  readonly batches: Kept[] = []
  startOffset = 0

  get endOffset(): number {
    return (this.batches.at(-1)?.lastOffset ?? -1) + 1
  }

  read(offset: number, maxBytes: number, atLeastOne: boolean): Kept[] {
    const from = this.batches.filter(({ lastOffset }) => lastOffset >= offset)
    let bytes = 0
    return from.filter((batch, i) => {
      bytes += batch.bytes.length
      return bytes <= maxBytes || (i === 0 && atLeastOne)
    })
  }
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant('append' as const),
    count: fc.integer({ min: 1, max: 5 }),
    size: fc.integer({ min: 0, max: 9000 }),
    at: fc.integer({ min: 0, max: 500 }),
  }),
  fc.record({
    kind: fc.constant('large' as const),
    count: fc.constant(1),
    size: fc.integer({ min: 30_000, max: 70_000 }),
    at: fc.integer({ min: 0, max: 500 }),
  }),
  fc.record({
    kind: fc.constant('read' as const),
    offset: fc.double({ min: 0, max: 1, noNaN: true }),
    maxBytes: fc.integer({ min: 0, max: 100_000 }),
    atLeastOne: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('since' as const), timestamp: fc.integer({ min: 0, max: 520 }) }),
  fc.record({ kind: fc.constant('forget' as const), offset: fc.double({ min: 0, max: 1, noNaN: true }) }),
)

describe('MemoryLog', () => {
  test('reads, looks up and forgets as a plain list does', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const log = new MemoryLog()
        const model = new Model()
        const offsetAt = (share: number) =>
          model.startOffset + Math.floor(share * (model.endOffset - model.startOffset + 1))
        for (const s of steps) {
          if (s.kind === 'append' || s.kind === 'large') {
            const bytes = batchOf(
              Array.from({ length: s.count }, () => ({ value: 'v'.repeat(s.size), timestamp: s.at })),
            )
            const baseOffset = model.endOffset
            patchForAppend(bytes, baseOffset, 0)
            log.append(Buffer.from(bytes))
            model.batches.push({ baseOffset, lastOffset: baseOffset + s.count - 1, maxTimestamp: s.at, bytes })
          } else if (s.kind === 'read') {
            const offset = Math.min(offsetAt(s.offset), model.endOffset)
            const expected = model.read(offset, s.maxBytes, s.atLeastOne)
            const got = log.read(offset, s.maxBytes, s.atLeastOne)
            expect(Buffer.concat(got.chunks)).toEqual(Buffer.concat(expected.map(({ bytes }) => bytes)))
            expect(got.bytes).toBe(expected.reduce((sum, { bytes }) => sum + bytes.length, 0))
            const all = model.read(offset, Infinity, true)
            expect(log.bytesFrom(offset)).toBe(all.reduce((sum, { bytes }) => sum + bytes.length, 0))
            expect([...log.batches(offset)].map(({ baseOffset }) => baseOffset)).toEqual(
              all.map(({ baseOffset }) => baseOffset),
            )
          } else if (s.kind === 'since') {
            const expected = model.batches.filter(
              ({ maxTimestamp, lastOffset }) => maxTimestamp >= s.timestamp && lastOffset >= model.startOffset,
            )
            expect([...log.batchesSince(s.timestamp)].map(({ baseOffset }) => baseOffset)).toEqual(
              expected.map(({ baseOffset }) => baseOffset),
            )
          } else {
            model.startOffset = Math.min(offsetAt(s.offset), model.endOffset)
            log.advanceStart(model.startOffset)
          }
          expect([log.startOffset, log.endOffset]).toEqual([model.startOffset, model.endOffset])
        }
      }),
      { numRuns: 60 },
    )
  })

  test('thousands of small batches are read in a slice or two', () => {
    const log = new MemoryLog()
    for (let offset = 0; offset < 5000; offset++) {
      const bytes = batchOf(['x'.repeat(20)])
      patchForAppend(bytes, offset, 0)
      log.append(bytes)
    }
    const { chunks, bytes } = log.read(2500, 100_000, true)
    expect(chunks.length).toBeLessThanOrEqual(2)
    expect(bytes).toBeGreaterThan(99_000)
    expect(splitBatches(chunks[0]!, where)[0]!.baseOffset).toBe(2500)
  })
})
