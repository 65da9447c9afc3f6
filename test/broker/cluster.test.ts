// The handle: brokers that stop, die and come back, leaders and coordinators that move, time, the request log.
import { describe, expect, test } from 'vitest'
import { startBroker, type BrokerCluster, type LogLine } from '../../src/broker.js'
import { CreateTopics } from '../../src/protocol/messages/create-topics.js'
import { errorCodes } from '../../src/protocol/messages/error-table.js'
import { FindCoordinator } from '../../src/protocol/messages/find-coordinator.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { batchOf, fetch, fetchOf, produce, valuesIn } from './produce-fetch-lab.js'
import { WireClient } from './wire-client.js'

async function partitionOf(kafka: BrokerCluster, address = kafka.brokers[0]!) {
  await using client = await WireClient.open(address)
  return (await client.send(Metadata, { topics: [{ name: 't' }] })).topics[0]!.partitions[0]!
}

describe('brokers (B17)', () => {
  test.each(['stop', 'kill'] as const)(
    '%s: its partitions have no leader until it is back, with all that was written',
    async (way) => {
      await using kafka = await startBroker({ brokers: 2, topics: { u: 1, t: 1 } })
      const client = await WireClient.open(kafka.brokers[1]!)
      await produce(client, 't', 0, batchOf(['x'], { producerId: 1, producerEpoch: 0, baseSequence: 0 }))
      await kafka.broker(2)[way]()
      await client.closed
      expect(kafka.broker(2).isRunning).toBe(false)
      await expect(WireClient.open(kafka.brokers[1]!)).rejects.toThrow(/ECONNREFUSED/)
      expect(await partitionOf(kafka)).toMatchObject({
        errorCode: errorCodes.LEADER_NOT_AVAILABLE,
        leaderId: -1,
        leaderEpoch: 1,
        replicaNodes: [2],
        isrNodes: [2],
        offlineReplicas: [2],
      })
      const address = kafka.broker(2).address
      await kafka.broker(2).start()
      expect(kafka.broker(2).address).toBe(address)
      expect(await partitionOf(kafka)).toMatchObject({ errorCode: 0, leaderId: 2, leaderEpoch: 2, offlineReplicas: [] })
      await using again = await WireClient.open(address)
      expect(valuesIn(await fetch(again, fetchOf('t', [{ partition: 0 }])))).toEqual(['x'])
      const repeated = batchOf(['x'], { producerId: 1, producerEpoch: 0, baseSequence: 0 })
      expect(await produce(again, 't', 0, repeated)).toMatchObject({ errorCode: 0, baseOffset: 0 })
    },
  )

  test('stopping twice, starting twice and unknown brokers', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await kafka.broker(2).stop()
    await kafka.broker(2).stop()
    await kafka.broker(2).start()
    await kafka.broker(2).start()
    expect(() => kafka.broker(3)).toThrow('there is no broker 3; there are 1, 2')
    expect(() => kafka.topic('none')).toThrow('there is no topic none; there are t')
    expect((await partitionOf(kafka)).leaderId).toBe(1)
  })

  test('starting, stopping and closing at the same time', async () => {
    const kafka = await startBroker({ brokers: 2, host: 'localhost' })
    const { address } = kafka.broker(1)
    await kafka.broker(1).stop()
    await Promise.all([kafka.broker(1).start(), kafka.broker(1).start()])
    await WireClient.open(address).then((client) => client.close())
    await Promise.all([kafka.broker(1).stop(), kafka.broker(1).start()])
    await WireClient.open(address).then((client) => client.close())
    await kafka.broker(1).stop()
    await Promise.all([kafka.broker(1).start(), kafka.broker(1).stop()])
    await expect(WireClient.open(address)).rejects.toThrow(/ECONNREFUSED/)
    await Promise.all([kafka.broker(1).start(), kafka.close()])
    expect(kafka.broker(1).isRunning).toBe(false)
    await expect(WireClient.open(address)).rejects.toThrow(/ECONNREFUSED/)
  })

  test('a topic of more partitions than Kafka makes at once is refused', async () => {
    await expect(startBroker({ topics: { t: 10_001 } })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'startBroker: topics: Excessively large number of partitions per request.',
    })
  })

  test('ports end at 65535', async () => {
    await expect(startBroker({ brokers: 3, port: 65534 })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'startBroker: port must be 0-65533 for 3 brokers, got 65534',
    })
  })

  test('new topics go to living brokers; with none alive there is nobody to ask', async () => {
    await using kafka = await startBroker({ brokers: 2 })
    await kafka.broker(1).kill()
    await using client = await WireClient.open(kafka.brokers[1]!)
    const topics = [{ name: 't', numPartitions: 4, replicationFactor: 1, assignments: [], configs: [] }]
    await client.send(CreateTopics, { topics })
    expect(
      kafka
        .topic('t')
        .partitions()
        .map(({ leader }) => leader),
    ).toEqual([2, 2, 2, 2])
    const { controllerId, brokers } = await client.send(Metadata, { topics: [] })
    expect([controllerId, brokers.length]).toEqual([2, 1])
  })

  test('ports follow the first one', async () => {
    const probe = await startBroker()
    const port = Number(probe.brokers[0]!.split(':')[1])
    await probe.close()
    await using kafka = await startBroker({ port })
    expect(kafka.brokers).toEqual([`127.0.0.1:${port}`])
  })
})

describe('leaders and coordinators', () => {
  test('T47 moveLeader: another broker leads the same records in a new epoch', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { t: 1 } })
    await using first = await WireClient.open(kafka.brokers[0]!)
    await produce(first, 't', 0, batchOf(['x']))
    await kafka.moveLeader('t', 0, 3)
    expect((await produce(first, 't', 0, batchOf(['y']))).errorCode).toBe(errorCodes.NOT_LEADER_OR_FOLLOWER)
    expect(await partitionOf(kafka)).toMatchObject({ leaderId: 3, leaderEpoch: 1, replicaNodes: [3] })
    await using third = await WireClient.open(kafka.brokers[2]!)
    expect(await produce(third, 't', 0, batchOf(['y']))).toMatchObject({ errorCode: 0, baseOffset: 1 })
  })

  test('T07 a dead leader: moveLeader gives its partition to a living broker', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await using first = await WireClient.open(kafka.brokers[0]!)
    await produce(first, 't', 0, batchOf(['x']))
    await kafka.broker(1).kill()
    await kafka.moveLeader('t', 0, 2)
    await using client = await WireClient.open(kafka.brokers[1]!)
    expect(valuesIn(await fetch(client, fetchOf('t', [{ partition: 0 }])))).toEqual(['x'])
    await kafka.broker(1).start()
    expect((await partitionOf(kafka)).leaderId).toBe(2)
    await expect(kafka.moveLeader('t', 5, 1)).rejects.toThrow('there is no partition t-5')
    await kafka.broker(1).stop()
    await expect(kafka.moveLeader('t', 0, 1)).rejects.toThrow('broker 1 does not run')
  })

  test('groups are shared out among the living brokers, and moved on demand', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const groups = Array.from({ length: 60 }, (_, i) => `group-${i}`)
    const find = async (coordinatorKeys: string[]) =>
      (await client.send(FindCoordinator, { coordinatorKeys })).coordinators.map(({ nodeId }) => nodeId)
    expect([...new Set(await find(groups))].sort()).toEqual([1, 2, 3])
    const [one] = (await find(['g'])) as [number]
    await kafka.moveCoordinator('g', (one % 3) + 1)
    expect(await find(['g'])).toEqual([(one % 3) + 1])
    await kafka.broker(3).kill()
    await expect(kafka.moveCoordinator('g', 3)).rejects.toThrow('broker 3 does not run')
    expect([...new Set(await find(groups))].sort()).toEqual([1, 2])
  })
})

describe('time, requests and the log', () => {
  test('the clock goes forward on demand', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    const before = kafka.clock.date()
    kafka.clock.advance(3_600_000)
    expect(kafka.clock.date() - before).toBeGreaterThanOrEqual(3_600_000)
    expect(() => kafka.clock.advance(-1)).toThrow('clock.advance: ms must be a number of at least 0, got -1')
    expect(() => kafka.clock.advance(NaN)).toThrow('clock.advance: ms must be a number of at least 0, got NaN')
  })

  test('requests are logged decoded, with who asked whom', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[1]!, 'shop')
    await client.send(Metadata, { topics: [{ name: 't' }] }, 12)
    expect(kafka.requests).toMatchObject([
      {
        api: 'Metadata',
        version: 12,
        broker: 2,
        clientId: 'shop',
        correlationId: 1,
        request: { topics: [{ name: 't' }] },
      },
    ])
  })

  test('onLog is told what happens', async () => {
    const lines: string[] = []
    const onLog = ({ level, message }: LogLine) => level === 'info' && lines.push(message)
    const kafka = await startBroker({ topics: { t: 2 }, onLog })
    const client = await WireClient.open(kafka.brokers[0]!)
    client.socket.write(Buffer.from('ffffffff', 'hex'))
    await client.closed
    await kafka.close()
    expect(lines[0]).toBe('topic t created with 2 partitions')
    expect(lines[1]).toBe(`broker 1 listens on ${kafka.brokers[0]}`)
    expect(lines[2]).toMatch(/^broker 1 closed the connection from 127\.0\.0\.1:\d+: a frame of -1 bytes/)
  })

  test('what is in the log: records and batches, copies of the moment', async () => {
    await using kafka = await startBroker({ topics: { t: 2 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await produce(
      client,
      't',
      1,
      batchOf(
        [
          { key: 'k', value: '', timestamp: 1 },
          { key: null, value: null, timestamp: 2 },
        ],
        { producerId: 4, producerEpoch: 2, baseSequence: 0 },
      ),
    )
    const expected = { partition: 1, producerId: 4, producerEpoch: 2, leaderEpoch: 0, headers: [] }
    expect(await kafka.topic('t').records()).toEqual([
      { ...expected, offset: 0, timestamp: 1, key: Buffer.from('k'), value: Buffer.alloc(0), sequence: 0 },
      { ...expected, offset: 1, timestamp: 2, key: null, value: null, sequence: 1 },
    ])
    expect(await kafka.topic('t').records(0)).toEqual([])
    await expect(kafka.topic('t').records(2)).rejects.toThrow('there is no partition t-2; there are 0-1')
    await expect(kafka.topic('t').batches(-1)).rejects.toThrow('there is no partition t--1; there are 0-1')
    expect(await kafka.topic('t').batches()).toMatchObject([
      { partition: 1, baseOffset: 0, lastOffset: 1, recordCount: 2, baseSequence: 0, compression: 'none' },
    ])
  })

  test('T40 records are forgotten on demand, as by retention', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    await produce(client, 't', 0, batchOf(['a', 'b', 'c']))
    await kafka.topic('t').deleteBefore(0, 2)
    expect((await kafka.topic('t').records()).map(({ offset }) => offset)).toEqual([2])
    expect((await fetch(client, fetchOf('t', [{ partition: 0 }]))).responses[0]!.partitions[0]!.errorCode).toBe(1)
    await expect(kafka.topic('t').deleteBefore(0, 9)).rejects.toThrow('offset must be 0-3, got 9')
    await expect(kafka.topic('t').deleteBefore(4, 0)).rejects.toThrow('there is no partition t-4')
  })

  test('close is idempotent, and nothing can be started after it', async () => {
    const kafka = await startBroker({ brokers: 2 })
    await kafka.broker(2).stop()
    await Promise.all([kafka.close(), kafka.close()])
    await expect(kafka.broker(2).start()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})
