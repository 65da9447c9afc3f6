// @platformatic/kafka (on Node 24) on our broker: every codec, groups of its own and with ottla members, admin.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { codecs, exchangeTopics, peerProduces, peerReads } from './support/exchange.js'
import { mixedPartitions, mixedTopic, shareWithPeer } from './support/mixed-group.js'
import { runPeer } from './support/peers.js'

describe('@platformatic/kafka', () => {
  test.each(codecs)('writes %s batches idempotently, and we read them', async (codec) => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerProduces(kafka, 'platformatic', codec)
  })

  test('reads in a group what we wrote with each codec', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerReads(kafka, 'platformatic', 'roundrobin')
  })

  // It gives out what a fetch brings even of partitions that it has just given up, so nothing is sent while members come and go.
  test.each(['roundrobin', 'cooperative-sticky'] as const)(
    'shares a group with ottla members by %s, every record exactly once',
    async (assignor) => {
      await using kafka = await startBroker({ topics: { [mixedTopic]: mixedPartitions } })
      await shareWithPeer(kafka, { peer: 'platformatic', assignor, traffic: 'between changes' })
    },
  )

  test('admin: topics and groups', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    const { lines } = await runPeer('platformatic', 'admin', { brokers: kafka.brokers, topic: 'made', group: 'noted' })
    expect(lines).toEqual([
      { event: 'created', name: 'made', partitions: 2 },
      { event: 'topics', topics: ['made'] },
      { event: 'groups', groups: [['noted', 'Stable']] },
      { event: 'group', state: 'Stable', members: 1 },
      { event: 'left', topics: [], groups: 0 },
    ])
  })
})
