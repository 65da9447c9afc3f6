import { describe, expect, it } from 'vitest'
import { ApiVersions } from '../../src/protocol/messages/api-versions.js'
import { Heartbeat } from '../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { FakeServer, responseBytes } from '../helpers/fake-server.js'
import { heartbeat, open } from './connection-helpers.js'

describe('frames of a connection', () => {
  it('T100 come split into single bytes', async () => {
    await using server = await FakeServer.start()
    server.write = (socket, bytes) => {
      for (const byte of bytes) socket.write(Buffer.of(byte))
    }
    server.on(Heartbeat, () => ({ errorCode: 27 }))
    const connection = await open(server)
    expect(await connection.send(Heartbeat, heartbeat)).toMatchObject({ errorCode: 27 })
    await connection.close()
  })

  it('T100 come three in one chunk', async () => {
    await using server = await FakeServer.start()
    const held: Buffer[] = []
    server.on(Heartbeat, ({ generationId }, { version, correlationId }) => {
      held.push(responseBytes(Heartbeat, version, correlationId, { errorCode: generationId }))
      return held.length < 3 ? 'silence' : Buffer.concat(held)
    })
    const connection = await open(server)
    const answers = await Promise.all(
      [22, 25, 27].map((generationId) => connection.send(Heartbeat, { ...heartbeat, generationId })),
    )
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([22, 25, 27])
    await connection.close()
  })

  it('T100 with an unknown correlation id end this connection, and what was pending can be tried again', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, (_, { version }) => responseBytes(Heartbeat, version, 4711, { errorCode: 0 }))
    const connection = await open(server)
    const outcomes = await Promise.allSettled([
      connection.send(Heartbeat, heartbeat),
      connection.send(Heartbeat, heartbeat),
    ])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'CONNECTION_LOST', retriable: true } })
    }
    expect(connection.isOpen).toBe(false)
  })

  it('T100 are counted past 2^31-1', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => ({ errorCode: 0 }))
    const connection = await open(server, { firstCorrelationId: 2 ** 31 - 2 })
    await Promise.all([connection.send(Heartbeat, heartbeat), connection.send(Heartbeat, heartbeat)])
    expect(server.received.map(({ correlationId }) => correlationId)).toEqual([2 ** 31 - 2, 2 ** 31 - 1, 0])
    await connection.close()
  })

  it.each([
    ['an HTTP server', 'HTTP/1.1 400 Bad Request\r\n\r\n', /HTTP/],
    ['an SSH server', 'SSH-2.0-OpenSSH_9.6\r\n', /SSH/],
    ['a TLS server', Buffer.from('15030300020246', 'hex'), /is this a TLS port\?/],
    ['a size of -1', Buffer.from('ffffffff', 'hex'), /is this a TLS port\?.*-1 bytes/],
    ['a size of 2 GB', Buffer.from('7fffffff00', 'hex'), /2147483647 bytes.*allowed are 104857600/],
    ['an empty frame', Buffer.from('00000000', 'hex'), /not a Kafka broker/],
  ])('T100 %s on the port gives an error that says so, and is not tried again', async (_, answer, message) => {
    await using server = await FakeServer.start()
    server.onSocket((socket) => socket.once('data', () => socket.write(answer)))
    await expect(open(server)).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'CONNECTION_FAILED',
      retriable: false,
      message: expect.stringMatching(message) as string,
    })
  })

  it('T100 a port that hangs up during the handshake gives a hint', async () => {
    await using server = await FakeServer.start()
    server.on(ApiVersions, () => 'disconnect')
    await expect(open(server)).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      retriable: true,
      message: expect.stringContaining('is this a TLS port?') as string,
    })
  })

  it('T100 that are too large end an open connection', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => Buffer.from('00200000', 'hex'))
    const connection = await open(server, { maxFrameBytes: 1_048_576 })
    await expect(connection.send(Heartbeat, heartbeat)).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      retriable: true,
    })
  })

  it('that cannot be read fail their request by name, and the others so that they can be tried again', async () => {
    await using server = await FakeServer.start()
    server.on(Metadata, (_, { version, correlationId }) =>
      responseBytes(Metadata, version, correlationId, { brokers: [], topics: [] }).fill(0xff, 12),
    )
    server.on(Heartbeat, () => ({ errorCode: 0 }))
    const connection = await open(server)
    const outcomes = await Promise.allSettled([
      connection.send(Metadata, { topics: [] }),
      connection.send(Heartbeat, heartbeat),
    ])
    expect(outcomes).toMatchObject([
      { reason: { code: 'MALFORMED_MESSAGE', message: expect.stringContaining('Metadata') as string } },
      { reason: { code: 'CONNECTION_LOST', retriable: true } },
    ])
  })
})
