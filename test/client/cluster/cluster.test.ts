import { describe, expect, it } from 'vitest'
import { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { FakeServer } from '../../helpers/fake-server.js'
import { cluster, coordinatorAt, heartbeat, serveMetadata } from './cluster-helpers.js'

describe('a cluster', () => {
  it('finds topics, leaders and coordinators, on one connection when all is one broker', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server], {
      orders: {
        leaders: [
          [1, 3],
          [-1, 4],
        ],
      },
    })
    server.on(FindCoordinator, (request) => coordinatorAt(server, 1, request))
    server.on(Heartbeat, () => ({ errorCode: 27 }))
    const client = cluster([server])
    const topic = await client.topic('orders', client.deadline(5000))
    expect(topic.partitions.map(({ leaderId, leaderEpoch }) => [leaderId, leaderEpoch])).toEqual([
      [1, 3],
      [-1, 4],
    ])
    expect(client.topicName(topic.topicId)).toBe('orders')
    expect(await client.send(1, Heartbeat, heartbeat)).toMatchObject({ errorCode: 27 })
    expect(server.accepted).toBe(1)
    const deadline = client.deadline(5000)
    expect(await client.sendToCoordinator('g', Heartbeat, heartbeat, { deadline })).toMatchObject({ errorCode: 27 })
    expect(await client.coordinator('g', deadline)).toBe(1)
    expect(server.accepted).toBe(2)
    await client.close()
  })
})
