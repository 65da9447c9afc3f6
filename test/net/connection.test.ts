import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Connection } from '../../src/net/connection.js'
import { softwareVersion } from '../../src/net/software.js'
import { Heartbeat } from '../../src/protocol/messages/heartbeat.js'
import { Produce } from '../../src/protocol/messages/produce.js'
import type { RequestOf } from '../../src/protocol/wire/index.js'
import { Deadline } from '../../src/util/deadline.js'
import { Deferred } from '../../src/util/deferred.js'
import { FakeServer } from '../helpers/fake-server.js'
import { ManualClock } from '../helpers/manual-clock.js'
import { until } from '../helpers/until.js'
import { heartbeat, open } from './connection-helpers.js'

describe('a connection', () => {
  it('sends requests without waiting for answers and gives each its own', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, ({ generationId }) => ({ errorCode: generationId }))
    const connection = await open(server)
    const answers = await Promise.all(
      [0, 22, 25].map((generationId) => connection.send(Heartbeat, { ...heartbeat, generationId })),
    )
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([0, 22, 25])
    expect(server.requestsOf(Heartbeat).map(({ clientId, version }) => [clientId, version])).toEqual([
      ['test', 4],
      ['test', 4],
      ['test', 4],
    ])
    expect(connection.inFlight).toBe(0)
    await connection.close()
  })

  it('tells the version of this package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(softwareVersion).toBe(version)
  })

  it('writes a request of many chunks as one', async () => {
    await using server = await FakeServer.start()
    server.on(Produce, () => ({ responses: [] }))
    const connection = await open(server)
    const records = [Buffer.from('some'), Buffer.alloc(100_000, 7), Buffer.from('more')]
    await connection.send(Produce, (version) => ({
      acks: -1,
      timeoutMs: 1,
      topicData: [
        { [version >= 13 ? 'topicId' : 'name']: 'AAAAAAAAAAAAAAAAAAAAAQ', partitionData: [{ index: 0, records }] },
      ],
    }))
    const [received] = server.requestsOf(Produce)
    const [topic] = (received?.request as RequestOf<typeof Produce>).topicData
    expect(topic?.partitionData[0]?.records?.equals(Buffer.concat(records))).toBe(true)
    await connection.close()
  })

  it('closes when an answer does not come in time, under one timer for all requests', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => 'silence')
    const clock = new ManualClock()
    const closed: unknown[] = []
    const connection = await open(server, { clock, requestTimeoutMs: 30_000, onClose: (one) => closed.push(one) })
    const outcomes = Promise.allSettled([
      connection.send(Heartbeat, heartbeat),
      connection.send(Heartbeat, heartbeat, { timeoutMs: 1000 }),
      connection.send(Heartbeat, heartbeat),
    ])
    expect(clock.pendingTimers).toBe(1)
    await clock.advance(999)
    expect(connection.isOpen).toBe(true)
    await clock.advance(1)
    expect((await outcomes).map((one) => one.status === 'rejected' && (one.reason as { code: string }).code)).toEqual([
      'CONNECTION_LOST',
      'TIMEOUT',
      'CONNECTION_LOST',
    ])
    expect(closed).toMatchObject([{ error: { code: 'TIMEOUT', retriable: true }, lostRequests: 3 }])
    expect(clock.pendingTimers).toBe(0)
    await connection.close()
  })

  it('gives up one request by its deadline or signal, and drops its answer when it comes', async () => {
    await using server = await FakeServer.start()
    const gate = new Deferred<void>()
    server.on(Heartbeat, async ({ generationId }) => {
      await gate.promise
      return { errorCode: generationId }
    })
    const clock = new ManualClock()
    const connection = await open(server, { clock })
    const controller = new AbortController()
    const late = connection.send(Heartbeat, heartbeat, { deadline: new Deadline(clock, 100) })
    const aborted = connection.send(Heartbeat, heartbeat, { signal: controller.signal })
    const patient = connection.send(Heartbeat, { ...heartbeat, generationId: 22 }, { signal: controller.signal })
    const gaveUp = Promise.allSettled([late, aborted, patient])
    await clock.advance(100)
    await expect(late).rejects.toMatchObject({ code: 'TIMEOUT' })
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' })
    await gaveUp
    gate.resolve()
    expect(await connection.send(Heartbeat, { ...heartbeat, generationId: 27 })).toMatchObject({ errorCode: 27 })
    expect(connection.inFlight).toBe(0)
    await connection.close()
  })

  it('T113 leaves no listener on a signal that lives on', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => ({ errorCode: 0 }))
    const { signal } = new AbortController()
    const connection = await open(server, { signal })
    for (let i = 0; i < 20; i++) await connection.send(Heartbeat, heartbeat, { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    await connection.close()
  })

  it('refuses a signal that has fired and a deadline that is over before anything is sent', async () => {
    await using server = await FakeServer.start()
    const clock = new ManualClock()
    const connection = await open(server, { clock })
    await expect(connection.send(Heartbeat, heartbeat, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await expect(connection.send(Heartbeat, heartbeat, { deadline: new Deadline(clock, 0) })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    expect(server.requestsOf(Heartbeat)).toEqual([])
    await connection.close()
  })

  it('hands a one-way request to the system and waits for no answer', async () => {
    await using server = await FakeServer.start()
    server.on(Produce, () => 'silence')
    const connection = await open(server)
    const request = { acks: 0, timeoutMs: 1, topicData: [] }
    await connection.sendOneWay(Produce, request)
    expect(connection.inFlight).toBe(0)
    const last = connection.sendOneWay(Produce, request)
    await connection.close()
    await last
    await until('both arrived', () => server.requestsOf(Produce).length === 2)
    await expect(connection.sendOneWay(Produce, request)).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('T112 refuses what comes after close(), which may be called twice, and fails what is pending', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => 'silence')
    const closed: unknown[] = []
    const connection = await open(server, { onClose: (one) => closed.push(one) })
    const pending = connection.send(Heartbeat, heartbeat)
    const settled = expect(pending).rejects.toMatchObject({ code: 'CLOSED', retriable: false })
    await Promise.all([connection.close(), connection.close()])
    await settled
    await expect(connection.send(Heartbeat, heartbeat)).rejects.toMatchObject({ code: 'CLOSED' })
    expect(connection.isOpen).toBe(false)
    expect(closed).toEqual([{ error: undefined, lostRequests: 1 }])
  })

  it('T07 a request that comes when the connection was drained and is closed may be tried again on another', async () => {
    await using server = await FakeServer.start()
    const connection = await open(server)
    connection.drain()
    expect(connection.isOpen).toBe(false)
    const late = connection.send(Heartbeat, heartbeat)
    await expect(late).rejects.toMatchObject({ code: 'CONNECTION_FAILED', retriable: true })
    await connection.close()
  })

  it('drains: takes no more, and closes after the last answer', async () => {
    await using server = await FakeServer.start()
    const gate = new Deferred<void>()
    server.on(Heartbeat, () => gate.promise.then(() => ({ errorCode: 0 })))
    const closed = new Deferred<unknown>()
    const connection = await open(server, { onClose: (one) => closed.resolve(one) })
    const last = connection.send(Heartbeat, heartbeat)
    connection.drain()
    expect(connection.isOpen).toBe(false)
    await expect(connection.send(Heartbeat, heartbeat)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
    gate.resolve()
    expect(await last).toMatchObject({ errorCode: 0 })
    expect(await closed.promise).toEqual({ error: undefined, lostRequests: 0 })
  })

  it.each(['end', 'reset'] as const)('T99 notices that the broker has closed it (%s) while idle', async (how) => {
    await using server = await FakeServer.start()
    const closed = new Deferred<unknown>()
    const connection = await open(server, { onClose: (one) => closed.resolve(one) })
    server.disconnectAll(how)
    expect(await closed.promise).toMatchObject({ error: { code: 'CONNECTION_LOST', retriable: true }, lostRequests: 0 })
    await expect(connection.send(Heartbeat, heartbeat)).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      retriable: true,
    })
  })

  it('T99 fails what was pending with a retriable error when the broker goes', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => 'disconnect')
    const connection = await open(server)
    await expect(connection.send(Heartbeat, heartbeat)).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'CONNECTION_LOST',
      retriable: true,
      message: expect.stringContaining(`Heartbeat to ${server.address}`) as string,
    })
  })

  it('runs the stage of authentication before the connection is given out', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => ({ errorCode: 58 }))
    const connection = await open(server, {
      authenticate: async (stage) => {
        expect(await stage.send(Heartbeat, heartbeat)).toMatchObject({ errorCode: 58 })
      },
    })
    await connection.close()
    const refusal = new Error('wrong password')
    await expect(open(server, { authenticate: () => Promise.reject(refusal) })).rejects.toBe(refusal)
    const clock = new ManualClock()
    const silent = open(server, { clock, connectTimeoutMs: 3000, authenticate: () => new Promise(() => {}) })
    const outcome = expect(silent).rejects.toMatchObject({ code: 'CONNECTION_FAILED', retriable: true })
    await until('the server was reached', () => server.accepted === 3 && server.received.length >= 4)
    await clock.advance(3000)
    await outcome
    await until('the sockets are gone', () => server.sockets.size === 0)
  })

  it('T112 gives up opening when its signal fires', async () => {
    await using server = await FakeServer.start()
    server.onSocket((socket) => socket.resume())
    const controller = new AbortController()
    const opening = open(server, { signal: controller.signal })
    const outcome = expect(opening).rejects.toMatchObject({ code: 'ABORTED' })
    await until('the server was reached', () => server.accepted === 1)
    controller.abort()
    await outcome
    await until('the sockets are gone', () => server.sockets.size === 0)
    await expect(open(server, { signal: controller.signal })).rejects.toMatchObject({ code: 'ABORTED' })
    expect(server.accepted).toBe(1)
  })

  it('T98 gives up on a port that accepts and is silent', async () => {
    await using server = await FakeServer.start()
    server.onSocket((socket) => socket.resume())
    const clock = new ManualClock()
    const opening = open(server, { clock, connectTimeoutMs: 3000 })
    const outcome = expect(opening).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      retriable: true,
      message: expect.stringContaining('accepts connections, but does not answer') as string,
    })
    await until('the server was reached', () => server.accepted === 1)
    await clock.advance(3000)
    await outcome
    expect(clock.pendingTimers).toBe(0)
  })

  it('is not opened where nobody listens', async () => {
    const server = await FakeServer.start()
    const { port } = server
    await server.close()
    await expect(
      Connection.open({
        ...{ host: '127.0.0.1', port, clientId: null },
        clock: new ManualClock(),
        requestTimeoutMs: 1,
        connectTimeoutMs: 1000,
      }),
    ).rejects.toMatchObject({ name: 'ConnectionError', code: 'CONNECTION_FAILED', retriable: true })
  })
})
