// kafkajs on our broker: the codecs it has, groups of its own assignor, one with ottla members by a custom assigner, faults, admin.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { Producer } from '../../src/index.js'
import { until } from '../helpers/until.js'
import { exchangeTopics, peerProduces, peerReads } from './support/exchange.js'
import { mixedPartitions, mixedTopic, shareWithPeer } from './support/mixed-group.js'
import { ownedBy, recordsOf, runPeer, startPeer } from './support/peers.js'
import { faultyTopic, readsThroughFaults } from './support/through-faults.js'

describe('kafkajs', () => {
  test.each(['none', 'gzip'] as const)('writes %s batches idempotently, and we read them', async (codec) => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerProduces(kafka, 'kafkajs', codec)
  })

  test('reads in a group what we wrote with the codecs that it has', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerReads(kafka, 'kafkajs', 'own', ['none', 'gzip'])
  })

  test('two members share a group by an assignor of their own, whose name and data the broker does not know', async () => {
    await using kafka = await startBroker({ topics: { [mixedTopic]: mixedPartitions } })
    const options = { brokers: kafka.brokers, topic: mixedTopic, group: 'own', assignor: 'own' }
    await using one = startPeer('kafkajs', 'group', options)
    await one.until('it has all partitions', () => ownedBy(one).length === mixedPartitions)
    await using other = startPeer('kafkajs', 'group', options)
    const half = mixedPartitions / 2
    await until('they share', () => ownedBy(one).length === half && ownedBy(other).length === half, 30_000)
    const [group] = kafka.groups()
    expect(group).toMatchObject({ state: 'Stable', protocol: 'RoundRobinAssigner', protocolType: 'consumer' })
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send(
      mixedTopic,
      Array.from({ length: 120 }, (_, i) => ({ value: `${i}`, partition: i % mixedPartitions })),
    )
    const read = () => [...recordsOf(one), ...recordsOf(other)]
    await until('they have read everything', () => read().length >= 120, 30_000)
    for (const member of [one, other]) {
      member.ask()
      await member.ended()
      expect(recordsOf(member)).toHaveLength(60)
    }
    const values = read().map(({ value }) => Number(value))
    expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, i) => i))
    expect(kafka.groups()[0]).toMatchObject({ state: 'Empty', members: [] })
    expect(kafka.groups()[0]!.offsets.map(({ offset }) => offset)).toEqual([20, 20, 20, 20, 20, 20])
  })

  test('shares a group with ottla members by a custom assigner named range, every record exactly once', async () => {
    await using kafka = await startBroker({ topics: { [mixedTopic]: mixedPartitions } })
    await shareWithPeer(kafka, { peer: 'kafkajs', assignor: 'range', traffic: 'always' })
  })

  test('reads on through partition errors and broken connections', async () => {
    await using kafka = await startBroker({ topics: { [faultyTopic]: 3 } })
    await readsThroughFaults(kafka, 'kafkajs', 'own', true)
  })

  test('admin: the controller is one of the brokers it is told of, topics, offsets, configs, groups', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    const { lines } = await runPeer('kafkajs', 'admin', { brokers: kafka.brokers, topic: 'made', group: 'noted' })
    const [cluster, ...others] = lines
    const ids = (cluster!['brokers'] as { nodeId: number }[]).map(({ nodeId }) => nodeId)
    expect(ids.sort()).toEqual([1, 2, 3])
    expect(ids).toContain(cluster!['controller'])
    expect(others).toEqual([
      { event: 'created again', isNew: false },
      { event: 'partitions', ids: [0, 1, 2] },
      { event: 'watermarks', of0: { partition: 0, offset: '3', high: '3', low: '0' } },
      { event: 'at 1500', of0: { partition: 0, offset: '1' } },
      { event: 'offsets', of0: { partition: 0, offset: '2', metadata: null } },
      { event: 'group', state: 'Empty', errorCode: 0 },
      { event: 'config', value: '5000' },
      { event: 'after deletion', of0: { partition: 0, offset: '3', high: '3', low: '1' } },
      { event: 'left', topics: [], groups: [] },
    ])
  })
})
