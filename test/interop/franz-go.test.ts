// franz-go on our broker: every codec, groups of its own and with ottla members, faults, offsets, admin.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { Producer } from '../../src/index.js'
import { codecs, exchangeTopics, peerProduces, peerReads } from './support/exchange.js'
import { mixedPartitions, mixedTopic, shareWithPeer } from './support/mixed-group.js'
import { recordsOf, runPeer } from './support/peers.js'
import { requestsOf, versionsOf } from './support/requests.js'
import { faultyTopic, readsThroughFaults } from './support/through-faults.js'

describe('franz-go', () => {
  test.each(codecs)('writes %s batches idempotently, and we read them', async (codec) => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerProduces(kafka, 'franz-go', codec)
    // By topic id, with the ids that Metadata gave.
    expect(versionsOf(kafka, 'franz-go', 'Produce')).toEqual([13])
  })

  test('reads in a group what we wrote with each codec', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: exchangeTopics })
    await peerReads(kafka, 'franz-go', 'range')
    expect(Math.min(...versionsOf(kafka, 'franz-go', 'Fetch'))).toBeGreaterThanOrEqual(13)
  })

  test.each(['range', 'roundrobin', 'cooperative-sticky'] as const)(
    'shares a group with ottla members by %s, every record exactly once',
    async (assignor) => {
      await using kafka = await startBroker({ topics: { [mixedTopic]: mixedPartitions } })
      await shareWithPeer(kafka, { peer: 'franz-go', assignor, traffic: 'always' })
    },
  )

  test('reads on through partition errors and broken connections, without a rebalance', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { [faultyTopic]: 3 } })
    await readsThroughFaults(kafka, 'franz-go', 'range')
  })

  test('reads from the middle of a batch: it is given the whole batch and drops what comes before', async () => {
    await using kafka = await startBroker({ topics: { long: 1 } })
    await using producer = new Producer({ brokers: kafka.brokers, compression: 'lz4' })
    await producer.send(
      'long',
      Array.from({ length: 50 }, (_, i) => ({ value: `v${i}` })),
    )
    expect(await kafka.topic('long').batches()).toHaveLength(1)
    const options = { brokers: kafka.brokers, topic: 'long', partition: 0, offset: 31, count: 19 }
    const read = recordsOf(await runPeer('franz-go', 'consume', options))
    expect(read.map(({ offset, value }) => [offset, value])).toEqual(
      Array.from({ length: 19 }, (_, i) => [31 + i, `v${31 + i}`]),
    )
  })

  test('two groups in a chain, whose members all join at once and leave in between, pass every record on once', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { raw: 6, refined: 6 } })
    await using producer = new Producer({ brokers: kafka.brokers })
    const count = 1500
    await producer.send(
      'raw',
      Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: `v${i}` })),
    )
    const options = {
      topic: 'raw',
      onward: 'refined',
      group: 'chain',
      assignor: 'cooperative-sticky',
      members: 3,
      count,
    }
    const chain = await runPeer('franz-go', 'chain', { brokers: kafka.brokers, ...options })
    expect(chain.of('lost')).toEqual([])
    expect(chain.of('done')).toEqual([{ event: 'done', copied: count, read: count }])
    const values = recordsOf(chain).map(({ value }) => value)
    expect(new Set(values)).toEqual(new Set(Array.from({ length: count }, (_, i) => `v${i}`)))
    expect(values).toHaveLength(count)
    expect(await kafka.topic('refined').records()).toHaveLength(count)
    for (const { state, offsets } of kafka.groups()) {
      expect(state).toBe('Empty')
      expect(offsets.reduce((sum, { lag }) => sum + lag, 0)).toBe(0)
    }
  })

  test('admin: topics, offsets at times, offsets of many groups at once, limits on size', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    const { lines } = await runPeer('franz-go', 'admin', { brokers: kafka.brokers, topic: 'made', group: 'noted' })
    const names = ['noted-1', 'noted-2', 'noted-3']
    expect(lines).toEqual([
      { event: 'created', hasId: true, partitions: 2 },
      { event: 'created twice', error: 'TOPIC_ALREADY_EXISTS' },
      { event: 'topics', partitions: 3, sameId: true },
      { event: 'produced', results: ['MESSAGE_TOO_LARGE', 'ok', 'ok', 'ok'] },
      { event: 'offsets', at: [0, 1, 2, 3], start: 0, end: 3 },
      { event: 'committed', committed: names.map((name, i) => `${i} note ${name}`) },
      { event: 'groups', groups: names },
      { event: 'described', state: 'Empty' },
      { event: 'lag', total: 2 },
      { event: 'after deletion', start: 2 },
      { event: 'left', topics: [] },
    ])
    const lookups = requestsOf(kafka, 'franz-go', 'FindCoordinator').map((request) => request['coordinatorKeys'])
    expect(lookups).toContainEqual(expect.arrayContaining(names))
  })
})
