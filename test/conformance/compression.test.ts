// Every codec, written by ottla and read by ottla with a broker between them that checks, and recompresses where the topic says so.
import { describe, expect, it } from 'vitest'
import { useCluster } from './cluster.js'
import { numbers, producerOf, readAll } from './clients.js'

const cluster = useCluster()
const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

/** Some that compress well, some that do not, some larger than a codec's block. */
const values = [
  ...numbers(300).map((i) => Buffer.from(`order ${i} of customer ${i % 7}, to be delivered as soon as possible`)),
  Buffer.alloc(200_000, 'abcdefgh'),
  Buffer.from(numbers(70_000).map((i) => (Math.imul(i, 2654435761) >>> 13) & 0xff)),
  Buffer.alloc(0),
]

describe('compression', () => {
  it.each(codecs)('%s comes back as it was written', async (compression) => {
    const topic = await cluster.createTopic(compression)
    await using producer = producerOf(cluster, { compression })
    await producer.send(
      topic,
      values.map((value) => ({ key: 'k', value, headers: { h: 'v' } })),
    )
    const read = await readAll(cluster, topic)
    expect(read).toHaveLength(values.length)
    for (const [i, { offset, value, headers }] of read.entries()) {
      expect(offset).toBe(i)
      expect(value?.equals(values[i] as Buffer)).toBe(true)
      expect(headers).toEqual([{ key: 'h', value: Buffer.from('v') }])
    }
    const batches = await cluster.batches(topic)
    expect(new Set(batches.map((batch) => batch.compression))).toEqual(new Set([compression]))
  })

  it.each(codecs)('T35 reading begins in the middle of a batch of %s', async (compression) => {
    const topic = await cluster.createTopic(`middle-${compression}`)
    await using producer = producerOf(cluster, { compression, lingerMs: 20 })
    await producer.send(topic, { value: 'first' })
    await producer.send(
      topic,
      numbers(100).map((i) => ({ value: String(i) })),
    )
    expect(await cluster.batches(topic)).toHaveLength(2)
    const read = await readAll(cluster, topic, { from: 51 })
    expect(read.map(({ offset, value }) => [offset, String(value)])).toEqual(
      numbers(50, 50).map((i) => [i + 1, String(i)]),
    )
  })

  it.each(['gzip', 'lz4', 'uncompressed'] as const)(
    'T95 a topic with compression.type %s has its own way',
    async (type) => {
      const topic = await cluster.createTopic('recompressed', 1, { 'compression.type': type })
      await using producer = producerOf(cluster, { compression: 'snappy' })
      await producer.send(
        topic,
        numbers(100).map((i) => ({ value: String(i) })),
      )
      const [batch] = await cluster.batches(topic)
      expect(batch?.compression).toBe(type === 'uncompressed' ? 'none' : type)
      expect((await readAll(cluster, topic)).map(({ value }) => Number(String(value)))).toEqual(numbers(100))
    },
  )
})
