// Where records go. The hashes are those that Kafka's own test of its Utils.murmur2 expects.
import { describe, expect, it } from 'vitest'
import { useCluster } from './cluster.js'
import { numbers, producerOf, readAll } from './clients.js'

const cluster = useCluster()
const partitions = 7

const vectors: readonly (readonly [string | Buffer, number])[] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  [Buffer.from('abc'), 479470107],
  ['', 275646681],
]

describe('partitioners', () => {
  it('T16 keyHash puts a key where the Java client does, by the hashes of its own tests', async () => {
    const topic = await cluster.createTopic('hashed', partitions)
    await using producer = producerOf(cluster)
    const sent = await producer.send(
      topic,
      vectors.map(([key]) => ({ key, value: 'v' })),
    )
    expect(sent.map(({ partition }) => partition)).toEqual(vectors.map(([, hash]) => (hash & 0x7fffffff) % partitions))
    for (const { key, partition } of await readAll(cluster, topic)) {
      const [, hash] = vectors.find(([one]) => Buffer.from(one).equals(key as Buffer)) ?? []
      expect(partition).toBe(((hash as number) & 0x7fffffff) % partitions)
    }
  })

  it('T16 a key of text and the same key of bytes go to one partition', async () => {
    const topic = await cluster.createTopic('same-key', partitions)
    await using producer = producerOf(cluster)
    const keys = ['äöü', '鍵', '🔑 and a longer text after it', 'plain']
    const texts = await producer.send(
      topic,
      keys.map((key) => ({ key, value: 'v' })),
    )
    const bytes = await producer.send(
      topic,
      keys.map((key) => ({ key: Buffer.from(key), value: 'v' })),
    )
    expect(bytes.map(({ partition }) => partition)).toEqual(texts.map(({ partition }) => partition))
  })

  it('roundRobin takes one partition after the other, keys or not', async () => {
    const topic = await cluster.createTopic('robin', partitions)
    await using producer = producerOf(cluster, { partitioner: 'roundRobin' })
    const sent = await producer.send(
      topic,
      numbers(70).map((i) => ({ key: i % 2 ? 'k' : null, value: 'v' })),
    )
    const counts = numbers(partitions).map((p) => sent.filter(({ partition }) => partition === p).length)
    expect(counts).toEqual(Array(partitions).fill(10))
  })

  it('records without a key stay together, and change the partition after 16 KiB', async () => {
    const topic = await cluster.createTopic('sticky', partitions)
    await using producer = producerOf(cluster)
    const value = Buffer.alloc(1000)
    const sent = await producer.send(
      topic,
      numbers(200).map(() => ({ value })),
    )
    const turns = sent.filter(({ partition }, i) => i > 0 && partition !== sent[i - 1]?.partition).length
    expect(turns).toBeGreaterThanOrEqual(8)
    expect(turns).toBeLessThanOrEqual(13)
  })

  it('an explicit partition and an own function decide', async () => {
    const topic = await cluster.createTopic('chosen', partitions)
    await using producer = producerOf(cluster, {
      partitioner: ({ key, partitionCount, available }) => (Number(key) + available.length) % partitionCount,
    })
    const sent = await producer.send(topic, [
      { key: '1', value: 'v' },
      { key: '3', value: 'v' },
      { key: '3', value: 'v', partition: 6 },
    ])
    expect(sent.map(({ partition }) => partition)).toEqual([1, 3, 6])
  })
})
