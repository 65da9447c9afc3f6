import { describe, expect, it } from 'vitest'
import { emptySnapshot, isUnsettled, mergeMetadata } from '../../../src/client/cluster/snapshot.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { Reader, Writer, type ResponseInput, type ResponseOf } from '../../../src/protocol/wire/index.js'

type TopicInput = ResponseInput<typeof Metadata>['topics'][number]

function answer(topics: readonly TopicInput[]): ResponseOf<typeof Metadata> {
  const writer = new Writer()
  Metadata.response.write(writer, 13, { brokers: [{ nodeId: 1, host: 'b', port: 1 }], topics })
  return Metadata.response.read(new Reader(Buffer.concat(writer.finish())), 13)
}

function topic(leaderId: number, leaderEpoch: number, topicId = 'AAAAAAAAAAAAAAAAAAAAAQ', name = 't'): TopicInput {
  const partition = { errorCode: 0, partitionIndex: 0, leaderId, leaderEpoch, replicaNodes: [1], isrNodes: [1] }
  return { errorCode: 0, name, topicId, partitions: [partition] }
}

describe('the picture of the cluster', () => {
  it('does not go back to a leader of an older epoch', () => {
    const known = mergeMetadata(emptySnapshot, answer([topic(2, 5)]), { isFull: true })
    const stale = mergeMetadata(known, answer([topic(1, 4)]), { isFull: true })
    expect(stale.topics.get('t')?.partitions[0]).toMatchObject({ leaderId: 2, leaderEpoch: 5 })
    const newer = mergeMetadata(known, answer([topic(3, 6)]), { isFull: true })
    expect(newer.topics.get('t')?.partitions[0]).toMatchObject({ leaderId: 3, leaderEpoch: 6 })
  })

  it('takes a topic that was made anew as it is', () => {
    const known = mergeMetadata(emptySnapshot, answer([topic(2, 5)]), { isFull: true })
    const anew = mergeMetadata(known, answer([topic(1, 0, 'AAAAAAAAAAAAAAAAAAAAAg')]), { isFull: true })
    expect(anew.topics.get('t')?.partitions[0]).toMatchObject({ leaderId: 1, leaderEpoch: 0 })
  })

  it('keeps other topics after an answer about some, and drops them after one about all', () => {
    const known = mergeMetadata(emptySnapshot, answer([topic(1, 0)]), { isFull: true })
    const other = answer([topic(1, 0, 'AAAAAAAAAAAAAAAAAAAAAg', '__proto__')])
    expect([...mergeMetadata(known, other, { isFull: false }).topics.keys()]).toEqual(['t', '__proto__'])
    expect([...mergeMetadata(known, other, { isFull: true }).topics.keys()]).toEqual(['__proto__'])
  })

  it('is unsettled while a leader is missing or a topic is being made', () => {
    const of = (one: TopicInput) => mergeMetadata(emptySnapshot, answer([one]), { isFull: true })
    expect(isUnsettled(of(topic(1, 0)))).toBe(false)
    expect(isUnsettled(of(topic(-1, 0)))).toBe(true)
    expect(isUnsettled(of({ errorCode: 5, name: 't', partitions: [] }))).toBe(true)
    expect(isUnsettled(of({ errorCode: 29, name: 't', partitions: [] }))).toBe(false)
  })

  it('has a partition for every number up to the highest', () => {
    const gap = { errorCode: 0, partitionIndex: 2, leaderId: 1, leaderEpoch: 0, replicaNodes: [1], isrNodes: [1] }
    const merged = mergeMetadata(emptySnapshot, answer([{ errorCode: 0, name: 't', partitions: [gap] }]), {
      isFull: true,
    })
    expect(merged.topics.get('t')?.partitions.map(({ partition, leaderId }) => [partition, leaderId])).toEqual([
      [0, -1],
      [1, -1],
      [2, 1],
    ])
  })
})
