import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { FakeServer } from '../../helpers/fake-server.js'
import { ManualClock } from '../../helpers/manual-clock.js'
import { until } from '../../helpers/until.js'
import { cluster, coordinatorAt, heartbeat, metadata, serveMetadata } from './cluster-helpers.js'

describe('closing a cluster', () => {
  it('T112 fails everything that is pending with CLOSED, wherever it is', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(Heartbeat, () => new Promise<'silence'>(() => {}))
    server.on(FindCoordinator, (request) => coordinatorAt(server, 1, request, 15))
    const client = cluster([server], { retryBackoffMs: 60_000, retryBackoffMaxMs: 60_000 })
    const deadline = client.deadline()
    await client.connect(deadline)
    const waiting = [client.topic('missing', deadline), client.coordinator('g', deadline)]
    await until('both are in a backoff', () => server.requestsOf(FindCoordinator).length === 1)
    const written = [client.send(1, Heartbeat, heartbeat), client.sendToAny(Heartbeat, heartbeat, { deadline })]
    const connecting = client.send(1, Heartbeat, heartbeat, { channel: 'other' })
    const outcomes = Promise.allSettled([...waiting, ...written, connecting])
    await Promise.all([client.close(), client.close()])
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'CLOSED' } })
    await until('the sockets are gone', () => server.sockets.size === 0)
  })

  it('T112 ends a connect() under way, and refuses what comes later', async () => {
    await using server = await FakeServer.start()
    server.onSocket((socket) => socket.resume())
    const client = cluster([server])
    const connecting = client.connect(client.deadline(60_000))
    const outcome = expect(connecting).rejects.toMatchObject({ code: 'CLOSED' })
    await until('it is connecting', () => server.accepted === 1)
    await client.close()
    await outcome
    const deadline = client.deadline(1000)
    for (const late of [
      () => client.connect(deadline),
      () => client.topic('t', deadline),
      () => client.refreshed(deadline),
      () => client.send(1, Heartbeat, heartbeat),
      () => client.coordinator('g', deadline),
      () => client.sendToController(Heartbeat, heartbeat, { deadline }),
    ]) {
      await expect(late()).rejects.toMatchObject({ code: 'CLOSED', message: 'the Test is closed' })
    }
    expect(client.isClosed).toBe(true)
    expect(server.accepted).toBe(1)
  })

  it('T112 connect() twice and at once is one connection', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    const client = cluster([server])
    const deadline = client.deadline(5000)
    await Promise.all([client.connect(deadline), client.connect(deadline)])
    await client.connect(deadline)
    expect([server.accepted, server.requestsOf(Metadata).length]).toEqual([1, 1])
    await client.close()
  })

  it('a client that never connected closes at once', async () => {
    await cluster(['127.0.0.1:1']).close()
  })

  it('a signal ends a wait for a broker that does not answer', async () => {
    await using server = await FakeServer.start()
    server.onSocket((socket) => socket.resume())
    const client = cluster([server])
    const controller = new AbortController()
    const waits = [
      client.connect(client.deadline(Infinity, controller.signal)),
      client.topic('t', client.deadline(Infinity, controller.signal)),
    ]
    const outcomes = Promise.allSettled(waits)
    await until('it is connecting', () => server.accepted === 1)
    controller.abort()
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'ABORTED' } })
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await client.close()
  })

  it('T115 one signal may end any number of waits without a warning of Node', async () => {
    await using server = await FakeServer.start()
    serveMetadata([server])
    server.on(Heartbeat, () => new Promise<'silence'>(() => {}))
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    const client = cluster([server, ...Array.from({ length: 20 }, (_, i) => `127.0.0.1:${i + 1}`)])
    await client.connect(client.deadline(5000))
    const controller = new AbortController()
    const { signal } = controller
    const waits = Array.from({ length: 30 }, (_, i) =>
      i % 2 === 0
        ? client.send(1, Heartbeat, heartbeat, { signal })
        : client.topic('missing', client.deadline(Infinity, signal)),
    )
    const outcomes = Promise.allSettled(waits)
    await until('all were sent', () => server.requestsOf(Heartbeat).length >= 1)
    controller.abort()
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'ABORTED' } })
    await client.close()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it('T120 a minute in which nothing can be reached costs few attempts and shows events', async () => {
    const server = await FakeServer.start()
    const clock = new ManualClock()
    serveMetadata([server], { t: { leaders: [[1, 0]] } })
    const client = cluster([server], { clock, retryBackoffMs: 100, retryBackoffMaxMs: 1000 })
    await settle(clock, client.topic('t', client.deadline(5000)))
    await server.close()
    const counts = { retry: 0, unreachable: 0 }
    client.events.on('retry', () => counts.retry++)
    client.events.on('unreachable', () => counts.unreachable++)
    const started = clock.now()
    const work = [1, 2, 3].map(() =>
      client.retry('work', client.deadline(60_000), (deadline) => client.send(1, Heartbeat, heartbeat, { deadline })),
    )
    const outcomes = Promise.allSettled(work)
    await settle(clock, outcomes, 5)
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'TIMEOUT' } })
    expect(clock.now() - started).toBeLessThan(60_050)
    expect(counts.unreachable).toBeGreaterThan(10)
    expect(counts.unreachable).toBeLessThan(160)
    expect(counts.retry).toBeLessThan(600)
    await client.close()
  })

  it('T115 a broker that flaps leaves no sockets, timers or listeners behind', async () => {
    await using server = await FakeServer.start()
    const clock = new ManualClock()
    serveMetadata([server])
    let flaps = 0
    server.on(Heartbeat, () => (++flaps % 2 === 1 ? 'disconnect' : { errorCode: 0 }))
    const client = cluster([server], { clock })
    const connecting = client.connect(client.deadline(5000))
    await settle(clock, connecting)
    const { signal } = new AbortController()
    const timersAfter: number[] = []
    for (let i = 0; i < 150; i++) {
      const work = client.retry('work', client.deadline(60_000, signal), (deadline) =>
        client.send(1, Heartbeat, heartbeat, { deadline }),
      )
      await settle(clock, work)
      if (i === 20 || i === 149) {
        await settle(clock, client.refreshed(client.deadline(60_000)))
        timersAfter.push(clock.pendingTimers)
      }
    }
    expect(flaps).toBe(300)
    expect(server.sockets.size).toBeLessThanOrEqual(2)
    expect(timersAfter[1]).toBeLessThanOrEqual(timersAfter[0]! + 1)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    await client.close()
    expect(clock.pendingTimers).toBe(0)
  })

  it('T113 an hour without work keeps the number of timers and requests flat', async () => {
    await using server = await FakeServer.start()
    const clock = new ManualClock()
    server.on(Metadata, (request) => metadata([server], { t: { leaders: [[1, 0]] } }, request))
    const client = cluster([server], { clock })
    await settle(clock, client.topic('t', client.deadline(5000)))
    const before = clock.pendingTimers
    for (let minute = 0; minute < 60; minute++) {
      const count = server.requestsOf(Metadata).length
      await clock.advance(60_000)
      if (minute % 5 === 4) await until('the metadata was renewed', () => server.requestsOf(Metadata).length > count)
    }
    expect(server.requestsOf(Metadata).length).toBeLessThanOrEqual(1 + 12 + 1)
    await settle(clock, client.refreshed(client.deadline(5000)))
    expect(clock.pendingTimers).toBeLessThanOrEqual(before + 1)
    await client.close()
    expect(clock.pendingTimers).toBe(0)
  })
})

/** Moves the clock on in small steps, with time for the sockets in between, until the work is done. */
async function settle(clock: ManualClock, work: Promise<unknown>, stepMs = 1): Promise<void> {
  let isDone = false
  const done = work.finally(() => (isDone = true))
  while (!isDone) {
    for (let i = 0; i < 5 && !isDone; i++) await new Promise((resolve) => setImmediate(resolve))
    if (!isDone) await clock.advance(stepMs)
  }
  await done
}
