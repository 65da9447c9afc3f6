// Where records go: as Java's client puts them, or as asked.
import { describe, expect, it } from 'vitest'
import { partitionerOf, partitionOfKey, type PartitionsView } from '../../../src/client/producer/partitioners/index.js'

const view = (count: number, available = Array.from({ length: count }, (_, i) => i)): PartitionsView => ({
  topic: 'orders',
  count,
  available,
})

describe('T16 keyHash', () => {
  // murmur2 as Kafka's own unit test has it (UtilsTest.testMurmur2), signed.
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])("T16 has Kafka's vector of %j", (key, hash) => {
    for (const partitions of [1, 2, 3, 7, 12, 1000]) {
      expect(partitionOfKey(key, partitions)).toBe((hash & 0x7fffffff) % partitions)
      expect(partitionOfKey(Buffer.from(key), partitions)).toBe((hash & 0x7fffffff) % partitions)
    }
  })

  it('T16 an empty key is a key: always the same partition', () => {
    expect(partitionOfKey('', 100)).toBe((275646681 & 0x7fffffff) % 100)
    expect(partitionOfKey(Buffer.alloc(0), 100)).toBe(partitionOfKey('', 100))
  })

  it.each(['ключ', '鍵', 'é', 'a\u0000b', '🔑', 'x'.repeat(1000)])(
    'T16 text is hashed by its UTF-8 bytes: %j',
    (key) => {
      expect(partitionOfKey(key, 997)).toBe(partitionOfKey(new Uint8Array(Buffer.from(key)), 997))
    },
  )

  it('T16 bytes of every value are hashed as they are', () => {
    const every = Uint8Array.from({ length: 256 }, (_, i) => i)
    expect(partitionOfKey(every, 2 ** 31)).toBe(partitionOfKey(Buffer.from(every), 2 ** 31))
    expect(partitionOfKey(Uint8Array.of(0xff, 0xfe), 997)).not.toBe(partitionOfKey(Uint8Array.of(0x7f, 0x7e), 997))
  })

  it('T16 a key stays with its partition though that has no leader; without a key another is taken', () => {
    const partitioner = partitionerOf('keyHash')
    const dead = partitionOfKey('abc', 3)
    const others = [0, 1, 2].filter((partition) => partition !== dead)
    expect(partitioner.choose('abc', 'v', view(3, others))).toBe(dead)
    for (let i = 0; i < 50; i++) expect(others).toContain(partitioner.choose(null, 'v', view(3, others)))
  })
})

describe('sticky', () => {
  it('stays with a partition for 16 KiB and then takes another', () => {
    const partitioner = partitionerOf('sticky')
    const chosen: number[] = []
    for (let i = 0; i < 64; i++) {
      const partition = partitioner.choose('key or not', 'v', view(3))
      partitioner.wrote(partition, 1024)
      chosen.push(partition)
    }
    for (let i = 0; i < 64; i += 16) expect(new Set(chosen.slice(i, i + 16)).size).toBe(1)
    expect(chosen[15]).not.toBe(chosen[16])
  })

  it('moves at once when its partition has no leader any more, and takes any when none has one', () => {
    const partitioner = partitionerOf('sticky')
    const first = partitioner.choose(null, 'v', view(2))
    expect(partitioner.choose(null, 'v', view(2, [1 - first]))).toBe(1 - first)
    expect([0, 1]).toContain(partitioner.choose(null, 'v', view(2, [])))
  })
})

it('roundRobin takes one available partition after another', () => {
  const partitioner = partitionerOf('roundRobin')
  const chosen = Array.from({ length: 6 }, () => partitioner.choose('same', 'v', view(4, [0, 2, 3])))
  expect(chosen).toEqual([0, 2, 3, 0, 2, 3])
})

describe('a function of one own', () => {
  it('is given the record and the partitions', () => {
    const partitioner = partitionerOf(({ key, value, topic, partitionCount, available }) => {
      expect([key, value, topic, available]).toEqual(['k', 'v', 'orders', [0, 1, 2]])
      return partitionCount - 1
    })
    expect(partitioner.choose('k', 'v', view(3))).toBe(2)
  })

  it.each([-1, 3, 1.5, undefined, '1'])('may not return %j of three partitions', (answer) => {
    const partitioner = partitionerOf(() => answer as number)
    expect(() => partitioner.choose(null, 'v', view(3))).toThrow('the partitioner must return an integer of 0-2')
  })
})
