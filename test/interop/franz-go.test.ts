// franz-go on our broker: producing by every codec, groups of its own and with ottla members, offsets, admin.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { codecs, exchangeTopics, peerProduces, peerReads } from './support/exchange.js'
import { mixedPartitions, mixedTopic, shareWithPeer } from './support/mixed-group.js'
import { runPeer } from './support/peers.js'

describe('franz-go', () => {
  test.each(codecs)('writes %s batches idempotently, and we read them', async (codec) => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerProduces(kafka, 'franz-go', codec)
  })

  test('reads in a group what we wrote with each codec', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerReads(kafka, 'franz-go', 'range')
  })

  test.each(['range', 'cooperative-sticky'] as const)('shares a group with ottla members by %s', async (assignor) => {
    await using kafka = await startBroker({ topics: { [mixedTopic]: mixedPartitions } })
    await shareWithPeer(kafka, { peer: 'franz-go', assignor, traffic: 'always' })
  })

  test('admin', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    const { lines } = await runPeer('franz-go', 'admin', { brokers: kafka.brokers, topic: 'made', group: 'noted' })
    expect(lines).toEqual([])
  })
})
