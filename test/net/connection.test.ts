import { describe, expect, it } from 'vitest'
import { Connection, type ConnectionOptions } from '../../src/net/connection.js'
import { ApiVersions } from '../../src/protocol/messages/api-versions.js'
import { Heartbeat } from '../../src/protocol/messages/heartbeat.js'
import { systemClock } from '../../src/util/clock.js'
import { FakeServer } from '../helpers/fake-server.js'

const heartbeat = { groupId: 'g', generationId: 1, memberId: 'm' }

function open(server: FakeServer, options: Partial<ConnectionOptions> = {}): Promise<Connection> {
  return Connection.open({
    host: '127.0.0.1',
    port: server.port,
    clientId: 'test',
    clock: systemClock,
    requestTimeoutMs: 5000,
    connectTimeoutMs: 5000,
    ...options,
  })
}

describe('a connection', () => {
  it('negotiates versions and answers requests', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, ({ generationId }) => ({ errorCode: generationId }))
    const connection = await open(server)
    const answers = await Promise.all(
      [0, 22, 25].map((generationId) => connection.send(Heartbeat, { ...heartbeat, generationId })),
    )
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([0, 22, 25])
    expect(server.received.map(({ api, clientId }) => [api.name, clientId])).toEqual([
      ['ApiVersions', 'test'],
      ['Heartbeat', 'test'],
      ['Heartbeat', 'test'],
      ['Heartbeat', 'test'],
    ])
    expect(server.received[0]).toMatchObject({
      version: ApiVersions.stableVersions.max,
      request: { clientSoftwareName: 'ottla', clientSoftwareVersion: '0.1.0' },
    })
    await connection.close()
  })
})
