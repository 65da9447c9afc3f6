import { describe, expect, it } from 'vitest'
import type { ClusterEvents } from '../../../src/client/cluster/index.js'
import { ApiVersions } from '../../../src/protocol/messages/api-versions.js'
import { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { FakeServer } from '../../helpers/fake-server.js'
import { cluster, coordinatorAt, heartbeat, metadata, serveMetadata } from './cluster-helpers.js'

describe('routing', () => {
  it('T61 a coordinator that has moved is found again, and the same request goes to the new one', async () => {
    await using one = await FakeServer.start()
    await using two = await FakeServer.start()
    serveMetadata([one, two])
    let home = 1
    for (const server of [one, two]) {
      server.on(FindCoordinator, (request) => coordinatorAt([one, two][home - 1]!, home, request))
    }
    one.on(Heartbeat, () => {
      home = 2
      return { errorCode: 16 }
    })
    two.on(Heartbeat, () => ({ errorCode: 0 }))
    const client = cluster([one, two])
    const answer = await client.sendToCoordinator(
      'g',
      Heartbeat,
      { ...heartbeat, memberId: 'me', generationId: 7 },
      {
        deadline: client.deadline(5000),
      },
    )
    expect(answer).toMatchObject({ errorCode: 0 })
    expect(two.requestsOf(Heartbeat)).toMatchObject([{ request: { memberId: 'me', generationId: 7 } }])
    expect(await client.coordinator('g', client.deadline(5000))).toBe(2)
    await client.close()
  })

  it('T61 a coordinator that is loading is asked again, and one that dies is found again', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(FindCoordinator, (request) => coordinatorAt(server, 1, request))
    const answers = [{ errorCode: 14 }, 'disconnect' as const, { errorCode: 27 }]
    server.on(Heartbeat, () => answers.shift()!)
    const client = cluster([server])
    const deadline = client.deadline(5000)
    expect(await client.sendToCoordinator('g', Heartbeat, heartbeat, { deadline })).toMatchObject({ errorCode: 27 })
    expect(server.requestsOf(FindCoordinator)).toHaveLength(2)
    await client.close()
  })

  it('T62 a coordinator that is not there yet is looked for with visible events until it is', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    let tries = 0
    server.on(FindCoordinator, (request) => coordinatorAt(server, 1, request, ++tries < 6 ? 15 : 0))
    const client = cluster([server])
    const retries: ClusterEvents['retry'][] = []
    client.events.on('retry', (event) => retries.push(event))
    expect(await client.coordinator('billing', client.deadline(5000))).toBe(1)
    expect(retries.map(({ what, attempt, error }) => [what, attempt, error.code])).toEqual(
      [1, 2, 3, 4, 5].map((attempt) => [
        'finding the coordinator of group billing',
        attempt,
        'COORDINATOR_NOT_AVAILABLE',
      ]),
    )
    await client.close()
  })

  it('asks for the coordinators of many groups in one request, and in one each where the broker is older', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(FindCoordinator, (request) => coordinatorAt(server, 1, request))
    for (const [version, requests] of [
      [6, 1],
      [3, 3],
      [0, 3],
    ] as const) {
      server.on(ApiVersions, () => server.apiVersions({ FindCoordinator: version }))
      server.received.length = 0
      const client = cluster([server])
      const deadline = client.deadline(5000)
      const found = await Promise.all(['a', 'b', 'c'].map((group) => client.coordinator(group, deadline)))
      expect(found).toEqual([1, 1, 1])
      expect(server.requestsOf(FindCoordinator)).toHaveLength(requests)
      await client.close()
    }
  })

  it('tells kinds of coordinators apart', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(FindCoordinator, (request) => coordinatorAt(server, 1, request))
    const client = cluster([server])
    const deadline = client.deadline(5000)
    await client.coordinator('x', deadline)
    await client.coordinator({ transactionalId: 'x' }, deadline)
    await client.coordinator('x', deadline)
    expect(server.requestsOf(FindCoordinator)).toMatchObject([
      { request: { keyType: 0, coordinatorKeys: ['x'] } },
      { request: { keyType: 1, coordinatorKeys: ['x'] } },
    ])
    await client.close()
  })

  it('a group that is not allowed is a final error', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(FindCoordinator, (request) => coordinatorAt(server, 1, request, 30))
    const client = cluster([server])
    await expect(client.coordinator('secret', client.deadline(5000))).rejects.toMatchObject({
      name: 'AuthorizationError',
      code: 'GROUP_AUTHORIZATION_FAILED',
      message: expect.stringContaining('group secret') as string,
    })
    await client.close()
  })

  it('T85 the controller is found again when it has moved', async () => {
    await using one = await FakeServer.start()
    await using two = await FakeServer.start()
    let controllerId = 1
    for (const server of [one, two]) {
      server.on(Metadata, (request) => ({ ...metadata([one, two], {}, request), controllerId }))
    }
    one.on(Heartbeat, () => {
      controllerId = 2
      return { errorCode: 41 }
    })
    two.on(Heartbeat, () => ({ errorCode: 0 }))
    const client = cluster([one])
    await client.sendToController(Heartbeat, heartbeat, { deadline: client.deadline(5000) })
    expect([one, two].map((server) => server.requestsOf(Heartbeat).length)).toEqual([1, 1])
    expect(client.controllerId).toBe(2)
    await client.close()
  })

  it('sends to any broker, tries retriable answers again and returns the others as they came', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    const codes = [7, 14, 25]
    server.on(Heartbeat, () => ({ errorCode: codes.shift()! }))
    const client = cluster([server])
    const deadline = client.deadline(5000)
    expect(await client.sendToAny(Heartbeat, heartbeat, { deadline })).toMatchObject({ errorCode: 25 })
    codes.push(7)
    const answer = await client.sendToAny(Heartbeat, heartbeat, { deadline, errorCodeOf: () => 0, maxVersion: 2 })
    expect(answer).toMatchObject({ errorCode: 7 })
    expect(server.requestsOf(Heartbeat).at(-1)?.version).toBe(2)
    await client.close()
  })
})
