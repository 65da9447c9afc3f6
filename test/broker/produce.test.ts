// Produce and InitProducerId: validation, sequences, epochs, acks.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { errorCodes } from '../../src/protocol/messages/error-table.js'
import { InitProducerId } from '../../src/protocol/messages/init-producer-id.js'
import { Produce } from '../../src/protocol/messages/produce.js'
import { codecByName } from '../../src/protocol/records/index.js'
import * as layout from '../../src/protocol/records/layout.js'
import { crc32c } from '../../src/protocol/records/crc32c.js'
import { batchOf, produce, topicIdOf } from './produce-fetch-lab.js'
import { WireClient } from './wire-client.js'

function patched(batch: Buffer, patch: (batch: Buffer) => void): Buffer {
  const copy = Buffer.from(batch)
  patch(copy)
  layout.putInt32(copy, layout.crcAt, crc32c(copy, layout.attributesAt, copy.length))
  return copy
}

describe('validation (B12)', () => {
  test('a good batch gets the next offset, the answer has the log start', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await produce(client, 'orders', 0, batchOf(['a', 'b']))
    const answer = await produce(client, 'orders', 0, batchOf(['c']))
    expect(answer).toMatchObject({ errorCode: 0, baseOffset: 2, logAppendTimeMs: -1, logStartOffset: 0 })
    expect((await kafka.topic('orders').records()).map(({ value }) => value?.toString())).toEqual(['a', 'b', 'c'])
  })

  const cases: [name: string, records: () => Buffer | null, code: keyof typeof errorCodes][] = [
    ['no records at all', () => null, 'INVALID_RECORD'],
    ['a cut batch', () => batchOf(['a']).subarray(0, 40), 'INVALID_RECORD'],
    ['two batches', () => Buffer.concat([batchOf(['a']), batchOf(['b'])]), 'INVALID_RECORD'],
    ['an old message format', () => patched(batchOf(['a']), (b) => (b[layout.magicAt] = 1)), 'INVALID_RECORD'],
    [
      'a wrong checksum',
      () => {
        const batch = batchOf(['abc'])
        batch[batch.length - 1]! ^= 1
        return batch
      },
      'CORRUPT_MESSAGE',
    ],
    [
      'a count that is not the last offset delta + 1',
      () => patched(batchOf(['a', 'b']), (b) => layout.putInt32(b, layout.lastOffsetDeltaAt, 5)),
      'INVALID_RECORD',
    ],
    ['a control batch', () => batchOf(['a'], { control: true }), 'INVALID_RECORD'],
    [
      'a transactional batch',
      () => batchOf(['a'], { transactional: true, producerId: 1, producerEpoch: 0, baseSequence: 0 }),
      'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
    ],
    [
      'a date far in the future',
      () => batchOf([{ value: 'a', timestamp: Date.now() + 7_200_000 }]),
      'INVALID_TIMESTAMP',
    ],
    ['a batch above max.message.bytes', () => batchOf(['x'.repeat(2000)]), 'MESSAGE_TOO_LARGE'],
    [
      'an unknown codec',
      () => patched(batchOf(['a']), (b) => (b[layout.attributesAt + 1]! |= 6)),
      'UNSUPPORTED_COMPRESSION_TYPE',
    ],
  ]
  test.each(cases)('%s is refused and not appended', async (_name, records, code) => {
    await using kafka = await startBroker({ topics: { orders: 1 }, config: { 'message.max.bytes': 1000 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const answer = await produce(client, 'orders', 0, records())
    expect(answer).toMatchObject({ errorCode: errorCodes[code], baseOffset: -1 })
    expect(await kafka.topic('orders').records()).toEqual([])
  })

  test('T13 a record without key in a compacted topic is named by its index, and nothing is written', async () => {
    await using kafka = await startBroker({ topics: { facts: 1 }, config: { 'log.cleanup.policy': 'compact' } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const batch = batchOf([{ key: 'k', value: '1' }, { value: '2' }, { key: 'k', value: '3' }])
    const answer = await produce(client, 'facts', 0, batch)
    expect(answer.errorCode).toBe(errorCodes.INVALID_RECORD)
    expect(answer.recordErrors.map(({ batchIndex }) => batchIndex)).toEqual([1])
    expect(await kafka.topic('facts').records()).toEqual([])
  })

  test('LogAppendTime gives the records the time of the broker', async () => {
    await using kafka = await startBroker({
      topics: { t: 1 },
      config: { 'log.message.timestamp.type': 'LogAppendTime' },
    })
    kafka.clock.advance(86_400_000)
    await using client = await WireClient.open(kafka.brokers[0]!)
    const before = kafka.clock.date()
    const { logAppendTimeMs } = await produce(client, 't', 0, batchOf([{ value: 'a', timestamp: 5 }]))
    expect(logAppendTimeMs).toBeGreaterThanOrEqual(before)
    expect((await kafka.topic('t').records())[0]!.timestamp).toBe(logAppendTimeMs)
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd', 'uncompressed'])(
    'T95 compression.type %s compresses anew what comes in another codec',
    async (codec) => {
      await using kafka = await startBroker({ topics: { t: 1 }, config: { 'compression.type': codec } })
      await using client = await WireClient.open(kafka.brokers[0]!)
      const values = Array.from({ length: 50 }, (_, i) => `value ${i}`)
      const sent = batchOf(values, { codec: codecByName(codec === 'gzip' ? 'lz4' : 'gzip') })
      expect(await produce(client, 't', 0, sent)).toMatchObject({ errorCode: 0, baseOffset: 0 })
      const [batch] = await kafka.topic('t').batches()
      expect(batch!.compression).toBe(codec === 'uncompressed' ? 'none' : codec)
      expect((await kafka.topic('t').records()).map(({ value }) => value!.toString())).toEqual(values)
    },
  )
})

describe('acks', () => {
  test('acks other than -1, 0 and 1 are refused with 21', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const answer = await produce(client, 't', 0, batchOf(['a']), { acks: 2 })
    expect(answer.errorCode).toBe(errorCodes.INVALID_REQUIRED_ACKS)
    expect(await kafka.topic('t').records()).toEqual([])
  })

  test('T23 acks=0 has no answer; the next request on the connection has its own', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    client.post(
      Produce,
      { acks: 0, timeoutMs: 0, topicData: [{ name: 't', partitionData: [{ index: 0, records: batchOf(['a']) }] }] },
      12,
    )
    expect(await produce(client, 't', 0, batchOf(['b']))).toMatchObject({ errorCode: 0, baseOffset: 1 })
  })

  test('acks=0 with an error closes the connection', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    client.post(
      Produce,
      { acks: 0, timeoutMs: 0, topicData: [{ name: 'none', partitionData: [{ index: 0, records: batchOf(['a']) }] }] },
      12,
    )
    await client.closed
    expect(client.socket.destroyed).toBe(true)
  })
})

describe('where', () => {
  test('unknown topics, partitions and ids have their own errors', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    expect((await produce(client, 'none', 0, batchOf(['a']))).errorCode).toBe(errorCodes.UNKNOWN_TOPIC_OR_PARTITION)
    expect((await produce(client, 't', 7, batchOf(['a']))).errorCode).toBe(errorCodes.UNKNOWN_TOPIC_OR_PARTITION)
    const topicId = 'abcdefghijklmnopqrstuw'
    const byId = await client.send(Produce, {
      acks: 1,
      timeoutMs: 0,
      topicData: [{ topicId, partitionData: [{ index: 0, records: batchOf(['a']) }] }],
    })
    expect(byId.responses[0]!.partitionResponses[0]!.errorCode).toBe(errorCodes.UNKNOWN_TOPIC_ID)
  })

  test('T45 topics go by id from version 13', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const topicId = await topicIdOf(client, 't')
    const answer = await client.send(Produce, {
      acks: 1,
      timeoutMs: 0,
      topicData: [{ topicId, partitionData: [{ index: 0, records: batchOf(['a']) }] }],
    })
    expect(answer.responses[0]).toMatchObject({ topicId, partitionResponses: [{ errorCode: 0, baseOffset: 0 }] })
  })

  test('T07 the wrong broker names the leader and its address', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[1]!)
    const answer = await client.send(
      Produce,
      { acks: 1, timeoutMs: 0, topicData: [{ name: 't', partitionData: [{ index: 0, records: batchOf(['a']) }] }] },
      12,
    )
    expect(answer.responses[0]!.partitionResponses[0]).toMatchObject({
      errorCode: errorCodes.NOT_LEADER_OR_FOLLOWER,
      currentLeader: { leaderId: 1, leaderEpoch: 0 },
    })
    const [host, port] = kafka.brokers[0]!.split(':')
    expect(answer.nodeEndpoints).toEqual([{ nodeId: 1, host, port: Number(port), rack: null }])
  })
})

describe('idempotent producers (B01)', () => {
  const stamped = (producerEpoch: number, baseSequence: number, values = ['x'], producerId = 77) =>
    batchOf(values, { producerId, producerEpoch, baseSequence })

  test('every InitProducerId gives an id of its own; a transactional id is refused', async () => {
    await using kafka = await startBroker({ brokers: 2 })
    await using one = await WireClient.open(kafka.brokers[0]!)
    await using two = await WireClient.open(kafka.brokers[1]!)
    const request = { transactionalId: null, transactionTimeoutMs: 0 }
    const a = await one.send(InitProducerId, request)
    const b = await two.send(InitProducerId, request)
    expect(a).toMatchObject({ errorCode: 0, producerEpoch: 0 })
    expect(b.producerId).not.toBe(a.producerId)
    const refused = await one.send(InitProducerId, { transactionalId: 'tx', transactionTimeoutMs: 1000 })
    expect(refused).toMatchObject({
      errorCode: errorCodes.TRANSACTIONAL_ID_NOT_FOUND,
      producerId: -1,
      producerEpoch: -1,
    })
  })

  test('T02 one of the last five batches is answered with its first offset and not appended again', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    for (let i = 0; i < 6; i++) await produce(client, 't', 0, stamped(0, 2 * i, ['a', 'b']))
    for (let i = 1; i < 6; i++) {
      expect(await produce(client, 't', 0, stamped(0, 2 * i, ['a', 'b']))).toMatchObject({
        errorCode: 0,
        baseOffset: 2 * i,
      })
    }
    const sixth = await produce(client, 't', 0, stamped(0, 0, ['a', 'b']))
    expect(sixth.errorCode).toBe(errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect((await kafka.topic('t').records()).length).toBe(12)
  })

  test('T02 a batch with another count than the one that was appended is out of order', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await produce(client, 't', 0, stamped(0, 0, ['a']))
    const answer = await produce(client, 't', 0, stamped(0, 0, ['a', 'b']))
    expect(answer.errorCode).toBe(errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER)
  })

  test('T04 any first sequence is taken when nothing is known of the producer; of a new epoch only 0', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    expect((await produce(client, 't', 0, stamped(3, 41))).errorCode).toBe(0)
    expect((await produce(client, 't', 0, stamped(4, 42))).errorCode).toBe(errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect((await produce(client, 't', 0, stamped(4, 0))).errorCode).toBe(0)
    expect((await produce(client, 't', 0, stamped(3, 42))).errorCode).toBe(errorCodes.INVALID_PRODUCER_EPOCH)
    expect((await produce(client, 't', 0, stamped(4, 2))).errorCode).toBe(errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER)
  })

  test('B01 the sequence after 2^31-1 is 0, also within a batch', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const max = 2 ** 31 - 1
    expect((await produce(client, 't', 0, stamped(0, max - 1, ['a', 'b', 'c']))).errorCode).toBe(0)
    expect((await produce(client, 't', 0, stamped(0, 1))).errorCode).toBe(0)
    expect((await produce(client, 't', 0, stamped(0, 3))).errorCode).toBe(errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER)
    const records = await kafka.topic('t').records()
    expect(records.map(({ sequence }) => sequence)).toEqual([max - 1, max, 0, 1])
  })

  test('T03b what a producer wrote is forgotten after producer.id.expiration.ms without writing', async () => {
    await using kafka = await startBroker({ topics: { t: 1 }, config: { 'producer.id.expiration.ms': 60_000 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await produce(client, 't', 0, stamped(0, 0))
    expect((await produce(client, 't', 0, stamped(0, 7))).errorCode).toBe(errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER)
    kafka.clock.advance(60_001)
    await using later = await WireClient.open(kafka.brokers[0]!)
    expect((await produce(later, 't', 0, stamped(0, 7))).errorCode).toBe(0)
  })

  test('the state moves with the leader', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await produce(client, 't', 0, stamped(0, 0))
    await kafka.moveLeader('t', 0, 2)
    await using other = await WireClient.open(kafka.brokers[1]!)
    expect(await produce(other, 't', 0, stamped(0, 0))).toMatchObject({ errorCode: 0, baseOffset: 0 })
    expect(await produce(other, 't', 0, stamped(0, 1))).toMatchObject({ errorCode: 0, baseOffset: 1 })
    expect((await kafka.topic('t').records()).map(({ leaderEpoch }) => leaderEpoch)).toEqual([0, 1])
  })
})
