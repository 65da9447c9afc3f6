// Kafka's own Java client on our broker: every codec, groups of its own and with ottla members, static members, faults.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { Producer } from '../../src/index.js'
import { codecs, exchangeTopics, peerProduces, peerReads } from './support/exchange.js'
import { mixedPartitions, mixedTopic, shareWithPeer } from './support/mixed-group.js'
import { ownedBy, recordsOf, runPeer, startPeer } from './support/peers.js'
import { requestsOf, versionsOf } from './support/requests.js'
import { faultyTopic, readsThroughFaults } from './support/through-faults.js'

describe('the Java client', () => {
  test.each(codecs)('writes %s batches idempotently, and we read them', async (codec) => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerProduces(kafka, 'java', codec)
    expect(versionsOf(kafka, 'java', 'Produce')).toEqual([13])
  })

  test('reads in a group what we wrote with each codec', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerReads(kafka, 'java', 'range')
    expect(versionsOf(kafka, 'java', 'Fetch')).toEqual([18])
    // Its first join has no member id and is told one, with which it joins (KIP-394).
    const joins = requestsOf(kafka, 'java', 'JoinGroup').map((request) => request['memberId'] as string)
    expect(joins.slice(0, 2)).toEqual(['', expect.stringMatching(/^java-.{36}$/)])
    // Telemetry is not offered, so it does not ask for it.
    expect(kafka.requests.filter(({ api }) => /Telemetry/.test(api))).toEqual([])
  })

  test.each(['range', 'cooperative-sticky'] as const)(
    'shares a group with ottla members by %s while records come in, every record exactly once',
    async (assignor) => {
      await using kafka = await startBroker({ topics: { [mixedTopic]: mixedPartitions } })
      await shareWithPeer(kafka, { peer: 'java', assignor, traffic: 'always' })
    },
  )

  test('reads on through partition errors and broken connections, without a rebalance', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { [faultyTopic]: 3 } })
    await readsThroughFaults(kafka, 'java', 'range')
  })

  test('a static member that is started again has its partitions back without a rebalance', async () => {
    await using kafka = await startBroker({ topics: { kept: 4 } })
    await using producer = new Producer({ brokers: kafka.brokers })
    const options = { brokers: kafka.brokers, topic: 'kept', group: 'static', assignor: 'range' }
    const names = [0, 1, 2, 3].map((partition) => `kept-${partition}`)
    const generations: number[] = []
    for (const run of [1, 2]) {
      await producer.send(
        'kept',
        Array.from({ length: 20 }, (_, i) => ({ value: `${run} ${i}`, partition: i % 4 })),
      )
      await using member = startPeer('java', 'group', { ...options, 'group.instance.id': 'one' })
      await member.until('it has read', () => recordsOf(member).length === 20)
      expect(ownedBy(member)).toEqual(names)
      expect(new Set(recordsOf(member).map(({ value }) => value.split(' ')[0]))).toEqual(new Set([`${run}`]))
      member.ask()
      await member.ended()
      const [group] = kafka.groups()
      expect(group).toMatchObject({ state: 'Stable', members: [{ groupInstanceId: 'one' }] })
      generations.push(group!.generation)
    }
    expect(generations).toEqual([1, 1])
    expect(requestsOf(kafka, 'java', 'LeaveGroup')).toEqual([])
  })

  test('reads from the middle of a batch', async () => {
    await using kafka = await startBroker({ topics: { long: 1 } })
    await using producer = new Producer({ brokers: kafka.brokers, compression: 'zstd' })
    await producer.send(
      'long',
      Array.from({ length: 50 }, (_, i) => ({ value: `v${i}` })),
    )
    expect(await kafka.topic('long').batches()).toHaveLength(1)
    const options = { brokers: kafka.brokers, topic: 'long', partition: 0, offset: 31, count: 19 }
    const read = recordsOf(await runPeer('java', 'consume', options))
    expect(read.map(({ offset, value }) => [offset, value])).toEqual(
      Array.from({ length: 19 }, (_, i) => [31 + i, `v${31 + i}`]),
    )
  })
})
