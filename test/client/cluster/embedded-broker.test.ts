// The cluster on the real thing: three brokers in this process, with faults on the wire.
import { describe, expect, it } from 'vitest'
import { startBroker } from '../../../src/broker.js'
import type { ClusterEvents } from '../../../src/client/cluster/index.js'
import { DescribeGroups } from '../../../src/protocol/messages/describe-groups.js'
import { ListGroups } from '../../../src/protocol/messages/list-groups.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { until } from '../../helpers/until.js'
import { cluster } from './cluster-helpers.js'

const describeGroup = { groups: ['g'], includeAuthorizedOperations: false }

describe('a cluster of three brokers', () => {
  it('is found whole from one of them, and each is sent to', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { orders: 3 } })
    const client = cluster([kafka.brokers[1]!])
    const topic = await client.topic('orders', client.deadline(5000))
    expect(topic.partitions.map(({ leaderId }) => leaderId).sort()).toEqual([1, 2, 3])
    expect(client.clusterId).not.toBeNull()
    const answers = await Promise.all([1, 2, 3].map((nodeId) => client.send(nodeId, ListGroups, {})))
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([0, 0, 0])
    await client.close()
  })

  it('T07 a killed broker’s partition is found at its new leader', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { orders: 3 } })
    const client = cluster(kafka.brokers)
    const topic = await client.topic('orders', client.deadline(5000))
    const { partition, leaderId, leaderEpoch } = topic.partitions[0]!
    await client.send(leaderId, ListGroups, {})
    await kafka.broker(leaderId).kill()
    const heir = (leaderId % 3) + 1
    await kafka.moveLeader('orders', partition, heir)
    const visited: number[] = []
    await client.retry('work', client.deadline(5000), async (deadline) => {
      const leader = client.cachedTopic('orders')!.partitions[partition]!.leaderId
      visited.push(leader)
      await client.send(leader, ListGroups, {}, { deadline })
    })
    expect(visited[0]).toBe(leaderId)
    expect(visited.at(-1)).toBe(heir)
    expect(client.cachedTopic('orders')!.partitions[partition]!.leaderEpoch).toBeGreaterThan(leaderEpoch)
    await client.close()
  })

  it('outlives a stop of all brokers, and says so meanwhile', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 2 } })
    const client = cluster(kafka.brokers)
    await client.topic('orders', client.deadline(5000))
    const rounds: ClusterEvents['unreachable'][] = []
    client.events.on('unreachable', (event) => rounds.push(event))
    await Promise.all([kafka.broker(1).stop(), kafka.broker(2).stop()])
    const waiting = client.refreshed(client.deadline(20_000))
    await until('three rounds were in vain', () => rounds.length >= 3)
    await kafka.broker(2).start()
    await waiting
    await kafka.broker(1).start()
    await until('both leaders are back', () =>
      client.cachedTopic('orders')!.partitions.every(({ leaderId }) => leaderId > 0),
    )
    await client.close()
  })

  it('T61 a group’s requests follow its coordinator', async () => {
    await using kafka = await startBroker({ brokers: 3 })
    const client = cluster(kafka.brokers)
    const deadline = client.deadline(10_000)
    const errorCodeOf = ({ groups }: { groups: { errorCode: number }[] }) => groups[0]!.errorCode
    await client.sendToCoordinator('g', DescribeGroups, describeGroup, { deadline, errorCodeOf })
    const first = await client.coordinator('g', deadline)
    const second = (first % 3) + 1
    await kafka.moveCoordinator('g', second)
    await client.sendToCoordinator('g', DescribeGroups, describeGroup, { deadline, errorCodeOf })
    expect(await client.coordinator('g', deadline)).toBe(second)
    await kafka.broker(second).kill()
    await kafka.moveCoordinator('g', first)
    await client.sendToCoordinator('g', DescribeGroups, describeGroup, { deadline, errorCodeOf })
    expect(await client.coordinator('g', deadline)).toBe(first)
    await client.close()
  })

  it('T24 waits as long as a broker throttles, and reports it', async () => {
    await using kafka = await startBroker()
    const client = cluster(kafka.brokers, { requestTimeoutMs: 500 })
    await client.connect(client.deadline(5000))
    const events: ClusterEvents['throttled'][] = []
    client.events.on('throttled', (event) => events.push(event))
    kafka.faults.add({ api: 'ListGroups', times: 1, throttleMs: 700 })
    await client.send(1, ListGroups, {})
    expect(await client.send(1, ListGroups, {})).toMatchObject({ errorCode: 0 })
    expect(events).toMatchObject([{ nodeId: 1, throttleTimeMs: 700, api: 'ListGroups' }])
    await client.close()
  })

  it.each([{ drop: true }, { disconnect: 'before' }, { disconnect: 'after' }] as const)(
    'gets a request through though the first is met by %j',
    async (fault) => {
      await using kafka = await startBroker()
      const client = cluster(kafka.brokers, { requestTimeoutMs: 200 })
      await client.connect(client.deadline(5000))
      const struck = kafka.faults.add({ api: 'ListGroups', times: 1, ...fault })
      const answer = await client.sendToAny(ListGroups, {}, { deadline: client.deadline(10_000) })
      expect(answer.errorCode).toBe(0)
      expect(struck.hits).toBe(1)
      await client.close()
    },
  )

  it('T09 a topic is created by asking for it, or fails by its own name where that is off', async () => {
    await using kafka = await startBroker({ brokers: 2 })
    const client = cluster(kafka.brokers)
    const created = await client.topic('fresh', client.deadline(5000))
    expect(created.partitions.length).toBeGreaterThan(0)
    await client.close()
    const careful = cluster(kafka.brokers, { allowAutoTopicCreation: false })
    await expect(careful.topic('absent', careful.deadline(100))).rejects.toMatchObject({
      code: 'TIMEOUT',
      cause: { code: 'UNKNOWN_TOPIC_OR_PARTITION' },
    })
    expect(kafka.topicNames()).toEqual(['fresh'])
    await careful.close()
  })

  it('metadata that fail for a while are asked for again', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    const fault = kafka.faults.add({ api: 'Metadata', topic: 'orders', times: 2, error: 'LEADER_NOT_AVAILABLE' })
    const client = cluster(kafka.brokers)
    expect((await client.topic('orders', client.deadline(5000))).partitions).toHaveLength(1)
    expect(fault.hits).toBe(2)
    const all = await client.sendToAny(Metadata, { topics: null }, { deadline: client.deadline(5000) })
    expect(all.topics.map(({ name }) => name)).toEqual(['orders'])
    await client.close()
  })
})
