// Records there and back: what a peer writes is in our log as it was meant and our Consumer reads it; what our Producer writes the peer
// reads, by every codec.
import { expect } from 'vitest'
import { Consumer, Producer, type Compression } from '../../../src/index.js'
import type { BrokerCluster } from '../../../src/broker.js'
import { recordsOf, runPeer, startPeer, type PeerName, type SeenRecord, type SentRecord } from './peers.js'

export const codecs: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** The topics of an exchange, three partitions each. */
export const exchangeTopics = { ...Object.fromEntries(codecs.map((codec) => [topicFrom(codec), 3])), 'to-peer': 3 }

function topicFrom(codec: Compression): string {
  return `from-peer-${codec}`
}

/** So many records with keys, headers and values that a codec can shrink, in turn to each of three partitions. */
export function someRecords(count: number, name: string): SentRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    key: `key-${i % 7}`,
    value: `${name} ${i} ${'värde '.repeat(10)}`,
    partition: i % 3,
    headers: [['trace', `${name}-${i}`]],
  }))
}

const plain = ({ key, value, partition, offset, headers }: SeenRecord) => ({ key, value, partition, offset, headers })
const byPlace = (a: SeenRecord, b: SeenRecord) => a.partition - b.partition || a.offset - b.offset

/** What must be read of records sent in this order to an empty topic. */
export function placed(records: readonly SentRecord[]): SeenRecord[] {
  const next = new Map<number, number>()
  return records
    .map((record) => {
      const offset = next.get(record.partition) ?? 0
      next.set(record.partition, offset + 1)
      return { ...record, offset }
    })
    .sort(byPlace)
}

/** Everything in a topic, as our Consumer reads it. */
export async function readByUs(brokers: readonly string[], topic: string): Promise<SeenRecord[]> {
  await using consumer = new Consumer({ brokers, topics: [topic], from: 'beginning', to: 'end', maxWaitMs: 50 })
  const seen: SeenRecord[] = []
  for await (const { key, value, partition, offset, headers } of consumer)
    seen.push({
      key: String(key),
      value: String(value),
      partition,
      offset,
      headers: headers.map((header) => [header.key, String(header.value)]),
    })
  return seen.sort(byPlace)
}

/** A peer produces with a codec, idempotently: every batch, record, header and sequence is as it must be. */
export async function peerProduces(kafka: BrokerCluster, peer: PeerName, codec: Compression): Promise<void> {
  const { brokers } = kafka
  const topic = topicFrom(codec)
  const records = someRecords(300, codec)
  const { lines } = await runPeer(peer, 'produce', { brokers, topic, codec, records })
  const told = lines.filter(({ event }) => event === 'delivered')
  expect(told).toHaveLength(records.length)
  expect(new Set(told.map(({ partition, offset }) => `${String(partition)} ${String(offset)}`)).size).toBe(300)
  const expected = placed(records)
  expect(await readByUs(brokers, topic)).toEqual(expected)
  const where = new Map(expected.map(({ value, partition, offset }) => [value, { partition, offset }]))
  for (const { value, partition, offset } of told) expect({ partition, offset }).toEqual(where.get(value as string))

  const batches = await kafka.topic(topic).batches()
  expect(new Set(batches.map(({ compression }) => compression))).toEqual(new Set([codec]))
  expect(batches.length).toBeLessThan(records.length)
  const log = await kafka.topic(topic).records()
  expect(log.every(({ producerId, sequence, offset }) => producerId >= 0 && sequence === offset)).toBe(true)
}

/** Our Producer writes with each of these codecs to one topic, and a peer reads it as the only member of a group. */
export async function peerReads(
  kafka: BrokerCluster,
  peer: PeerName,
  assignor: string,
  among: readonly Compression[] = codecs,
): Promise<void> {
  const topic = 'to-peer'
  const { brokers } = kafka
  const sent: SentRecord[] = []
  for (const compression of among) {
    await using producer = new Producer({ brokers, compression })
    const records = someRecords(120, compression)
    await producer.send(
      topic,
      records.map((record) => ({ ...record, headers: record.headers.map(([key, value]) => ({ key, value })) })),
    )
    sent.push(...records)
  }
  const batches = await kafka.topic(topic).batches()
  expect(new Set(batches.map(({ compression }) => compression))).toEqual(new Set(among))

  await using member = startPeer(peer, 'group', { brokers, topic, group: `readers-${peer}`, assignor })
  await member.until('it has read everything', () => recordsOf(member).length >= sent.length)
  member.ask()
  await member.ended()
  expect(member.of('closed')).toHaveLength(1)
  expect(recordsOf(member).map(plain).sort(byPlace)).toEqual(placed(sent))
  const group = kafka.groups().find(({ group }) => group === `readers-${peer}`)
  expect(group).toMatchObject({ state: 'Empty', members: [] })
  expect(group?.offsets.map(({ offset, lag }) => [offset, lag])).toEqual(
    [0, 1, 2].map((partition) => [sent.filter((record) => record.partition === partition).length, 0]),
  )
}
