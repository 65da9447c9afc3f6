import { describe, expect, it } from 'vitest'
import { Heartbeat } from '../../src/protocol/messages/heartbeat.js'
import { Deadline } from '../../src/util/deadline.js'
import { Deferred } from '../../src/util/deferred.js'
import { FakeServer } from '../helpers/fake-server.js'
import { ManualClock } from '../helpers/manual-clock.js'
import { until } from '../helpers/until.js'
import { heartbeat, open } from './connection-helpers.js'

describe('throttling', () => {
  it('T24 holds requests back as long as the broker asks, and goes on then', async () => {
    await using server = await FakeServer.start()
    let throttleTimeMs = 2000
    server.on(Heartbeat, () => ({ errorCode: 0, throttleTimeMs }))
    const clock = new ManualClock()
    const told: unknown[] = []
    const connection = await open(server, {
      clock,
      requestTimeoutMs: 500,
      onThrottle: (ms, api) => told.push([ms, api.name]),
    })
    await connection.send(Heartbeat, heartbeat)
    expect(told).toEqual([[2000, 'Heartbeat']])
    expect(connection.throttledUntil).toBe(2000)
    throttleTimeMs = 0
    const [first, second] = [connection.send(Heartbeat, heartbeat), connection.send(Heartbeat, heartbeat)]
    await clock.advance(1999)
    expect(connection.inFlight).toBe(2)
    expect(server.requestsOf(Heartbeat)).toHaveLength(1)
    await clock.advance(1)
    await Promise.all([first, second])
    expect(server.requestsOf(Heartbeat).map(({ correlationId }) => correlationId)).toEqual([1, 2, 3])
    expect(connection.throttledUntil).toBe(0)
    await connection.close()
    expect(clock.pendingTimers).toBe(0)
  })

  it('T24 does not count the time against requests already sent', async () => {
    await using server = await FakeServer.start()
    const gate = new Deferred<void>()
    let count = 0
    server.on(Heartbeat, async () => {
      if (++count === 1) return { errorCode: 0, throttleTimeMs: 2000 }
      await gate.promise // the broker has muted the connection
      return { errorCode: 27 }
    })
    const clock = new ManualClock()
    const connection = await open(server, { clock, requestTimeoutMs: 500 })
    const [first, second] = [connection.send(Heartbeat, heartbeat), connection.send(Heartbeat, heartbeat)]
    await first
    await clock.advance(2400)
    gate.resolve()
    expect(await second).toMatchObject({ errorCode: 27 })
    await connection.close()
  })

  it('T24 the caller’s own deadline ends a wait for it, and the request is never sent', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => ({ errorCode: 0, throttleTimeMs: 2000 }))
    const clock = new ManualClock()
    const connection = await open(server, { clock })
    await connection.send(Heartbeat, heartbeat)
    const controller = new AbortController()
    const outcomes = Promise.allSettled([
      connection.send(Heartbeat, heartbeat, { deadline: new Deadline(clock, 300) }),
      connection.send(Heartbeat, heartbeat, { signal: controller.signal }),
    ])
    controller.abort()
    await clock.advance(300)
    expect(await outcomes).toMatchObject([{ reason: { code: 'TIMEOUT' } }, { reason: { code: 'ABORTED' } }])
    const last = connection.send(Heartbeat, heartbeat)
    await clock.advance(1700)
    await last
    expect(server.requestsOf(Heartbeat)).toHaveLength(2)
    await connection.close()
  })

  it('T24 an old version’s throttle time is only reported: the broker has done the waiting', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => ({ errorCode: 0, throttleTimeMs: 2000 }))
    const told: number[] = []
    const connection = await open(server, { onThrottle: (ms) => told.push(ms) })
    await connection.send(Heartbeat, heartbeat, { version: 1 })
    expect(told).toEqual([2000])
    expect(connection.throttledUntil).toBe(0)
    await connection.close()
  })

  it('fails what is held back, and so was not sent, when the connection ends', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => ({ errorCode: 0, throttleTimeMs: 60_000 }))
    const connection = await open(server)
    await connection.send(Heartbeat, heartbeat)
    const held = connection.send(Heartbeat, heartbeat)
    const outcome = expect(held).rejects.toMatchObject({ code: 'CONNECTION_FAILED', retriable: true })
    server.disconnectAll()
    await outcome
    await until('the sockets are gone', () => server.sockets.size === 0)
  })
})
