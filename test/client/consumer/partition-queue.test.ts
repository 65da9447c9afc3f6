import { describe, expect, test } from 'vitest'
import { AbortedTransactions, type AbortedTransaction } from '../../../src/client/consumer/aborted-transactions.js'
import type { FeedSource } from '../../../src/client/consumer/consumer-record.js'
import { PartitionFeed } from '../../../src/client/consumer/partition-feed.js'
import { PartitionQueue } from '../../../src/client/consumer/partition-queue.js'
import { splitBatches } from '../../../src/protocol/records/index.js'
import { craft, damaged, range } from './crafted-batch.js'

const source: FeedSource = {
  topic: 'orders',
  partition: 0,
  serdes: { key: undefined, value: undefined },
  onDone: undefined,
}

function queueOf(batches: readonly Buffer[], aborted?: readonly AbortedTransaction[]): PartitionQueue {
  const queue = new PartitionQueue()
  const transactions = aborted === undefined ? undefined : new AbortedTransactions(aborted)
  queue.push(splitBatches(Buffer.concat(batches), source), transactions)
  return queue
}

/** Everything from an offset on, and where the reader stands then. */
function readAll(queue: PartitionQueue, from = 0, end = Infinity): { offsets: number[]; position: number } {
  const offsets: number[] = []
  let position = from
  while (position < end && queue.load(position, end)) {
    offsets.push(...queue.records.map(({ offset }) => offset))
    position = queue.nextOffset
  }
  return { offsets, position: Math.max(position, queue.nextOffset) }
}

describe('the queue of a partition', () => {
  test('T33 a batch with gaps gives its records and moves the position behind its last offset', () => {
    const queue = queueOf([craft({ base: 100, last: 109, offsets: [101, 104] })])
    expect(readAll(queue, 100)).toEqual({ offsets: [101, 104], position: 110 })
  })

  test('T33 a batch that compaction has emptied moves the position too', () => {
    const queue = queueOf([craft({ base: 100, last: 109 }), craft({ base: 110, offsets: [110] })])
    expect(readAll(queue, 105)).toEqual({ offsets: [110], position: 111 })
    expect(readAll(queueOf([craft({ base: 100, last: 109 })]), 105).position).toBe(110)
  })

  test('T34 a marker at the end is not given out, the position is behind it, and the leader epoch is its own', () => {
    const queue = queueOf([
      craft({ base: 0, offsets: [0, 1], transactional: true, producerId: 7, leaderEpoch: 3 }),
      craft({ base: 2, marker: 'commit', producerId: 7, leaderEpoch: 4 }),
    ])
    expect(readAll(queue)).toEqual({ offsets: [0, 1], position: 3 })
    expect(queue.leaderEpoch).toBe(4)
  })

  test('T35 what comes before the position in a batch is dropped', () => {
    expect(readAll(queueOf([craft({ base: 100, offsets: range(100, 199) })]), 150).offsets).toEqual(range(150, 199))
  })

  test('nothing at or behind the end is given out, and the position stops there', () => {
    const queue = queueOf([craft({ base: 0, offsets: range(0, 9) }), craft({ base: 10, offsets: range(10, 19) })])
    expect(readAll(queue, 3, 7)).toEqual({ offsets: [3, 4, 5, 6], position: 7 })
  })

  test('what lies behind a gap over the end is not passed over: the position is the end', () => {
    const gap = () => [
      craft({ base: 0, offsets: [0, 1] }),
      craft({ base: 10, offsets: [10] }),
      craft({ base: 11, marker: 'commit' }),
    ]
    expect(readAll(queueOf(gap()), 0, 5)).toEqual({ offsets: [0, 1], position: 5 })
    expect(readAll(queueOf(gap()), 2, 5)).toEqual({ offsets: [], position: 5 })
    expect(readAll(queueOf([craft({ base: 100, last: 109, offsets: [101, 104] })]), 100, 103)).toEqual({
      offsets: [101],
      position: 103,
    })
    expect(readAll(queueOf([craft({ base: 100, last: 109, offsets: [101] })]), 100, 105).position).toBe(105)
  })

  test("a batch beyond the end is not decoded: what is wrong with it is nobody's affair", () => {
    const queue = queueOf([craft({ base: 0, offsets: [0] }), damaged(craft({ base: 10, offsets: [10] }))])
    expect(readAll(queue, 0, 5)).toEqual({ offsets: [0], position: 5 })
  })

  test('a large batch is decoded in slices', () => {
    const queue = queueOf([craft({ base: 0, offsets: range(0, 1999) })])
    expect(queue.load(0, Infinity)).toBe(true)
    expect(queue.records.length).toBe(512)
    expect(queue.nextOffset).toBe(512)
    expect(readAll(queue, 512).offsets).toEqual(range(512, 1999))
  })

  test('bytes count what the reader has not reached', () => {
    const [first, second] = [craft({ base: 0, offsets: [0] }), craft({ base: 1, offsets: [1] })]
    const queue = queueOf([first, second])
    expect(queue.bytes).toBe(first.length + second.length)
    queue.load(0, Infinity)
    expect(queue.bytes).toBe(second.length)
    queue.clear()
    expect(queue.bytes).toBe(0)
  })

  test('T38 a batch with a wrong checksum throws at its offset, after what comes before it', () => {
    const queue = queueOf([
      craft({ base: 0, offsets: [0, 1] }),
      damaged(craft({ base: 2, offsets: range(2, 5) })),
      craft({ base: 6, offsets: [6] }),
    ])
    expect(queue.load(0, Infinity)).toBe(true)
    expect(() => queue.load(2, Infinity)).toThrow(expect.objectContaining({ code: 'CORRUPT_MESSAGE', offset: 2 }))
    expect(queue.failedBatchEnd).toBe(6)
  })

  test('records of an aborted transaction are left out, those around it are not', () => {
    const queue = queueOf(
      [
        craft({ base: 0, offsets: [0], transactional: true, producerId: 7 }),
        craft({ base: 1, offsets: [1], transactional: true, producerId: 8 }),
        craft({ base: 2, offsets: [2] }),
        craft({ base: 3, marker: 'abort', producerId: 7 }),
        craft({ base: 4, marker: 'commit', producerId: 8 }),
        craft({ base: 5, offsets: [5], transactional: true, producerId: 7 }),
        craft({ base: 6, marker: 'commit', producerId: 7 }),
      ],
      [{ producerId: 7, firstOffset: 0 }],
    )
    expect(readAll(queue)).toEqual({ offsets: [1, 2, 5], position: 7 })
  })

  test('aborted transactions may be listed in any order, and a producer may abort twice', () => {
    const queue = queueOf(
      [
        craft({ base: 0, offsets: [0], transactional: true, producerId: 7 }),
        craft({ base: 1, marker: 'abort', producerId: 7 }),
        craft({ base: 2, offsets: [2], transactional: true, producerId: 7 }),
        craft({ base: 3, marker: 'commit', producerId: 7 }),
        craft({ base: 4, offsets: [4], transactional: true, producerId: 7 }),
        craft({ base: 5, marker: 'abort', producerId: 7 }),
      ],
      [
        { producerId: 7, firstOffset: 4 },
        { producerId: 7, firstOffset: 0 },
      ],
    )
    expect(readAll(queue)).toEqual({ offsets: [2], position: 6 })
  })

  test('a position in the middle of an aborted transaction leaves the rest of it out', () => {
    const queue = queueOf(
      [
        craft({ base: 0, offsets: range(0, 9), transactional: true, producerId: 7 }),
        craft({ base: 10, offsets: [10], transactional: true, producerId: 7 }),
        craft({ base: 11, marker: 'abort', producerId: 7 }),
      ],
      [{ producerId: 7, firstOffset: 0 }],
    )
    expect(readAll(queue, 5)).toEqual({ offsets: [], position: 12 })
  })

  test('what is given back comes first again', () => {
    const queue = queueOf([craft({ base: 0, offsets: range(0, 4) })])
    queue.load(0, Infinity)
    queue.index = 3
    queue.giveBack(queue.records.slice(1, 3))
    expect(queue.records.slice(queue.index).map(({ offset }) => offset)).toEqual([1, 2, 3, 4])
  })
})

describe('the position of a partition', () => {
  const feedOf = (batches: readonly Buffer[]) => {
    const feed = new PartitionFeed(source, 0, {})
    feed.queue.push(splitBatches(Buffer.concat(batches), feed.source), undefined)
    return feed
  }
  const batches = () => [
    craft({ base: 0, offsets: [0, 1], leaderEpoch: 3 }),
    craft({ base: 2, offsets: [2, 3, 4], leaderEpoch: 5 }),
  ]

  // An older one that is committed looks like a truncated log to the Java consumer (KIP-320), which then goes back.
  test('T42 has the leader epoch of the record before it, in the middle of a batch too', () => {
    const feed = feedOf(batches())
    const positions = [0, 1, 2, 3, 4].map(() => {
      if (feed.take() === undefined && feed.load()) feed.take()
      return feed.position
    })
    expect(positions.map((position) => [position!.offset, position!.leaderEpoch])).toEqual([
      [1, 3],
      [2, 3],
      [3, 5],
      [4, 5],
      [5, 5],
    ])
  })

  test('T42 the same when records are taken by the slice', () => {
    const feed = feedOf(batches())
    feed.load()
    feed.takeSlice(10, Infinity)
    feed.load()
    feed.takeSlice(2, Infinity)
    expect(feed.position).toEqual({ offset: 4, leaderEpoch: 5 })
  })
})
