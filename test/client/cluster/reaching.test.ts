import { describe, expect, it } from 'vitest'
import type { ClusterEvents } from '../../../src/client/cluster/index.js'
import { ApiVersions } from '../../../src/protocol/messages/api-versions.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { FakeServer } from '../../helpers/fake-server.js'
import { ManualClock } from '../../helpers/manual-clock.js'
import { until } from '../../helpers/until.js'
import { cluster, heartbeat, metadata, serveMetadata } from './cluster-helpers.js'

async function closedPort(): Promise<string> {
  const server = await FakeServer.start()
  const { address } = server
  await server.close()
  return address
}

describe('reaching the cluster', () => {
  it('T98 a bootstrap server that refuses, one that is silent and one that talks TLS do not matter beside one that works', async () => {
    await using silent = await FakeServer.start()
    await using tls = await FakeServer.start()
    await using works = await FakeServer.start()
    silent.onSocket((socket) => socket.resume())
    tls.onSocket((socket) => socket.once('data', () => socket.write(Buffer.from('15030300020246', 'hex'))))
    serveMetadata([works])
    const client = cluster([silent, await closedPort(), 'no-such-host.invalid:9092', tls, works])
    await client.connect(client.deadline(5000))
    expect([...client.brokers.values()]).toMatchObject([{ nodeId: 1, port: works.port }])
    await client.close()
  })

  it('T98 begins with the bootstrap servers in random order', async () => {
    await using one = await FakeServer.start()
    await using two = await FakeServer.start()
    serveMetadata([one, two])
    for (let i = 0; i < 60 && (one.accepted === 0 || two.accepted === 0); i++) {
      const client = cluster([one, two])
      await client.connect(client.deadline(5000))
      await client.close()
    }
    expect([one.accepted, two.accepted].every((count) => count > 0)).toBe(true)
  })

  it('T08 ends at the deadline when nothing can be reached, with the last failure as the cause', async () => {
    const address = await closedPort()
    const client = cluster([address])
    const rounds: ClusterEvents['unreachable'][] = []
    client.events.on('unreachable', (event) => rounds.push(event))
    await expect(client.connect(client.deadline(100))).rejects.toMatchObject({
      code: 'TIMEOUT',
      cause: {
        name: 'ConnectionError',
        code: 'CONNECTION_FAILED',
        message: expect.stringContaining(address) as string,
      },
    })
    expect(rounds[0]).toMatchObject({ brokers: [address], round: 1 })
    expect(rounds.at(-1)?.round).toBe(rounds.length)
    await client.close()
  })

  it('a port that is not Kafka’s fails at once', async () => {
    await using web = await FakeServer.start()
    web.onSocket((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
    const client = cluster([web])
    await expect(client.connect(client.deadline(60_000))).rejects.toMatchObject({
      name: 'ConnectionError',
      retriable: false,
      message: expect.stringContaining('HTTP') as string,
    })
    expect(web.accepted).toBe(1)
    await client.close()
  })

  it('KIP-899 goes back to the bootstrap servers when no known broker can be reached', async () => {
    await using entry = await FakeServer.start()
    const old = await FakeServer.start()
    await using moved = await FakeServer.start()
    let brokers = [old]
    for (const server of [entry, old, moved]) server.on(Metadata, (request) => metadata(brokers, {}, request))
    const client = cluster([entry])
    const reasons: string[] = []
    client.events.on('rebootstrap', ({ reason }) => reasons.push(reason))
    await client.connect(client.deadline(5000))
    await client.refreshed(client.deadline(5000)) // now from the broker itself
    brokers = [moved]
    await old.close()
    await client.refreshed(client.deadline(5000))
    expect([...client.brokers.values()]).toMatchObject([{ port: moved.port }])
    expect(reasons).toEqual(['none of the known brokers can be reached'])
    await client.close()
  })

  it('KIP-1102 goes back to the bootstrap servers when a broker asks for it', async () => {
    await using server = await FakeServer.start()
    let errorCode = 0
    server.on(Metadata, (request) => ({ ...metadata([server], {}, request), errorCode }))
    const client = cluster([server])
    const reasons: string[] = []
    client.events.on('rebootstrap', ({ reason }) => {
      reasons.push(reason)
      errorCode = 0
    })
    await client.connect(client.deadline(5000))
    errorCode = 129
    await client.refreshed(client.deadline(5000))
    expect(reasons).toEqual([`${server.address} asks for it`])
    await client.close()
  })

  it('KIP-1242 finds the cluster anew when another broker answers at a known address', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(Heartbeat, () => ({ errorCode: 0 }))
    const client = cluster([server])
    await client.connect(client.deadline(5000))
    await client.send(1, Heartbeat, heartbeat)
    let refusals = 0
    server.on(ApiVersions, ({ nodeId, clusterId }) => {
      if (nodeId === -1) return server.apiVersions()
      expect([nodeId, clusterId]).toEqual([1, 'fake'])
      refusals++
      return refusals > 1 ? server.apiVersions() : { ...server.apiVersions(), errorCode: 129 }
    })
    const answer = await client.retry('work', client.deadline(5000), async (deadline) =>
      client.send(1, Heartbeat, heartbeat, { deadline, channel: 'other' }),
    )
    expect(answer).toMatchObject({ errorCode: 0 })
    expect(refusals).toBeGreaterThanOrEqual(1)
    await client.close()
  })

  it('T97 a broker that has moved is reached at its new address, and its old connection ends', async () => {
    await using before = await FakeServer.start()
    await using after = await FakeServer.start()
    let home = before
    for (const server of [before, after]) {
      server.on(Metadata, (request) => metadata([home], {}, request))
      server.on(Heartbeat, () => ({ errorCode: 0 }))
    }
    const client = cluster([before])
    await client.connect(client.deadline(5000))
    await client.send(1, Heartbeat, heartbeat)
    home = after
    await client.refreshed(client.deadline(5000))
    await client.send(1, Heartbeat, heartbeat)
    expect([before, after].map((server) => server.requestsOf(Heartbeat).length)).toEqual([1, 1])
    await until('the old connection is gone', () => before.sockets.size === 0)
    await client.close()
  })

  it.each(['end', 'reset'] as const)(
    'T99 a connection reaped while idle (%s) is reopened without an event',
    async (how) => {
      await using server = await FakeServer.start()
      serveMetadata([server])
      server.on(Heartbeat, () => ({ errorCode: 0 }))
      const client = cluster([server])
      const lost: unknown[] = []
      client.events.on('disconnected', (event) => lost.push(event))
      await client.connect(client.deadline(5000))
      server.disconnectAll(how)
      await until('the sockets are gone', () => server.sockets.size === 0)
      await client.retry('work', client.deadline(5000), (deadline) =>
        client.send(1, Heartbeat, heartbeat, { deadline }),
      )
      expect(server.accepted).toBe(2)
      expect(lost).toEqual([])
      await client.close()
    },
  )

  it('T99 a connection idle for too long is not used again', async () => {
    await using server = await FakeServer.start()
    const clock = new ManualClock()
    serveMetadata([server])
    server.on(Heartbeat, () => ({ errorCode: 0 }))
    const client = cluster([server], { clock, connectionMaxIdleMs: 540_000, metadataMaxAgeMs: 86_400_000 })
    await client.connect(client.deadline(5000))
    await clock.advance(539_999)
    await client.send(1, Heartbeat, heartbeat)
    expect(server.accepted).toBe(1)
    await clock.advance(540_000)
    await client.send(1, Heartbeat, heartbeat)
    expect(server.accepted).toBe(2)
    await client.close()
  })

  it('a further socket to a broker that can be reached is not waited for: the pause is for those that break', async () => {
    await using server = await FakeServer.start()
    const clock = new ManualClock()
    serveMetadata([server])
    let isBroken = true
    server.on(Heartbeat, () => (isBroken ? 'disconnect' : { errorCode: 0 }))
    const client = cluster([server], { clock })
    await client.connect(client.deadline(5000))
    await expect(client.send(1, Heartbeat, heartbeat, { channel: 'coordinator' })).rejects.toThrow(/connection/)
    expect(server.accepted).toBe(2)
    isBroken = false
    const again = client.send(1, Heartbeat, heartbeat, { channel: 'coordinator' })
    await clock.advance(1)
    expect(server.accepted).toBe(2)
    await clock.advance(100)
    await again
    expect(server.accepted).toBe(3)
    await client.close()
  })

  it('requests of different channels do not share a socket', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(Heartbeat, ({ memberId }) => (memberId === 'parked' ? 'silence' : { errorCode: 0 }))
    const client = cluster([server])
    await client.connect(client.deadline(5000))
    const parked = client.send(1, Heartbeat, { ...heartbeat, memberId: 'parked' }, { channel: 'fetch' })
    const outcome = expect(parked).rejects.toMatchObject({ code: 'CLOSED' })
    expect(await client.send(1, Heartbeat, heartbeat)).toMatchObject({ errorCode: 0 })
    expect(client.versionOf(1, Heartbeat)).toBe(4)
    expect(client.versionOf(1, Heartbeat, 'elsewhere')).toBeUndefined()
    await client.close()
    await outcome
  })

  it('a broker that is not in the metadata is a retriable failure', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    const client = cluster([server])
    await client.connect(client.deadline(5000))
    await expect(client.send(9, Heartbeat, heartbeat)).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      retriable: true,
    })
    await client.close()
  })
})
