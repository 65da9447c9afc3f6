// confluent-kafka (Python, on librdkafka) on our broker: every codec, groups of its own and with ottla members, faults, admin.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { codecs, exchangeTopics, peerProduces, peerReads } from './support/exchange.js'
import { mixedPartitions, mixedTopic, shareWithPeer } from './support/mixed-group.js'
import { runPeer } from './support/peers.js'
import { faultyTopic, readsThroughFaults } from './support/through-faults.js'

describe('confluent-kafka', () => {
  test.each(codecs)('writes %s batches idempotently, and we read them', async (codec) => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerProduces(kafka, 'confluent-kafka', codec)
  })

  test('reads in a group what we wrote with each codec', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerReads(kafka, 'confluent-kafka', 'range')
    expect(kafka.requests.filter(({ api }) => /Telemetry/.test(api))).toEqual([])
  })

  test.each(['range', 'roundrobin', 'cooperative-sticky'] as const)(
    'shares a group with ottla members by %s while records come in, every record exactly once',
    async (assignor) => {
      await using kafka = await startBroker({ topics: { [mixedTopic]: mixedPartitions } })
      await shareWithPeer(kafka, { peer: 'confluent-kafka', assignor, traffic: 'always' })
    },
  )

  test('reads on through partition errors and broken connections, without a rebalance', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { [faultyTopic]: 3 } })
    await readsThroughFaults(kafka, 'confluent-kafka', 'range')
  })

  test('admin: configs read, edited and written back, offsets at times, notes on commits, refused records', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    const { lines } = await runPeer('confluent-kafka', 'admin', {
      brokers: kafka.brokers,
      topic: 'made',
      group: 'noted',
    })
    const told = new Map(lines.map(({ event, ...fields }) => [event, fields]))
    const { configs } = told.get('configs') as { configs: Record<string, [string, number, boolean]> }
    const isDefault = 5 // source DEFAULT_CONFIG
    expect(Object.keys(configs).length).toBeGreaterThan(25)
    expect(configs).toMatchObject({
      'cleanup.policy': ['delete', isDefault, true],
      'compression.type': ['producer', isDefault, true],
      'max.message.bytes': ['1048588', isDefault, true],
      'retention.ms': ['604800000', isDefault, true],
      'segment.bytes': ['1073741824', isDefault, true],
    })
    expect([...told].filter(([event]) => event !== 'configs')).toEqual([
      ['topics', { counts: { made: 3, 'made-compacted': 1 } }],
      ['created twice', { error: 'TOPIC_ALREADY_EXISTS' }],
      ['edited', { value: '2000', source: 1, isDefault: false }],
      ['outcomes', { outcomes: ['MSG_SIZE_TOO_LARGE', 'ok', 'ok', 'ok', 'INVALID_RECORD', 'ok'] }],
      ['times', { offsets: [0, 1, 2, -1], watermarks: [0, 3] }],
      ['max timestamp', { offset: 2 }],
      [
        'committed',
        {
          committed: [
            [2, 'a note'],
            [-1001, null],
          ],
        },
      ], // -1001: librdkafka's word for none
      ['groups', { groups: [['noted', 'EMPTY']] }],
      ['group offsets', { offsets: [['made', 0, 2]] }],
      ['deleted records', { watermarks: [2, 3] }],
      ['left', { groups: 0 }],
    ])
    expect(kafka.topicNames()).toEqual([])
  })
})
