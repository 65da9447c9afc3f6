import { createServer, type AddressInfo, type Server } from 'node:net'
import { describe, expect, it } from 'vitest'
import { dial } from '../../src/net/dial.js'
import { systemClock } from '../../src/util/clock.js'

async function listening(host = '127.0.0.1'): Promise<{ server: Server; port: number; close: () => Promise<unknown> }> {
  const server = createServer((socket) => socket.on('error', () => {}).resume())
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const close = () => new Promise((resolve) => server.close(resolve))
  return { server, port: (server.address() as AddressInfo).port, close }
}

const forever = new AbortController().signal

describe('dialling', () => {
  it('T96 reaches a broker on IPv4 alone though the name means IPv6 first', async () => {
    const { port, close } = await listening()
    const resolve = () =>
      Promise.resolve([
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ])
    const socket = await dial({ host: 'broker.test', port, clock: systemClock, signal: forever, resolve })
    expect(socket.remoteAddress).toBe('127.0.0.1')
    socket.destroy()
    await close()
  })

  it('T97 looks a name up each time and tries every address it has', async () => {
    const { port, close } = await listening()
    const answers = [['127.0.0.1'], ['127.0.0.2', '127.0.0.3', '127.0.0.1']]
    const resolve = () => Promise.resolve(answers.shift()!.map((address) => ({ address, family: 4 })))
    for (let i = 0; i < 2; i++) {
      const socket = await dial({ host: 'moved.test', port, clock: systemClock, signal: forever, resolve })
      expect(socket.remoteAddress).toBe('127.0.0.1')
      socket.destroy()
    }
    expect(answers).toEqual([])
    await close()
  })

  it('tells what each address said when none works', async () => {
    const { port, close } = await listening()
    await close()
    const resolve = () => Promise.resolve(['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })))
    await expect(dial({ host: 'down.test', port, clock: systemClock, signal: forever, resolve })).rejects.toMatchObject(
      {
        code: 'CONNECTION_FAILED',
        retriable: true,
        message: `cannot connect to down.test:${port} (127.0.0.1: ECONNREFUSED; 127.0.0.2: ECONNREFUSED)`,
      },
    )
  })

  it('tells when a name means nothing, and takes an IPv6 host with and without brackets', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    await expect(
      dial({ host: 'no.test', port: 9, clock: systemClock, signal: forever, resolve }),
    ).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: 'cannot find the address of no.test:9 (ENOTFOUND)',
    })
    // A literal address is not looked up: the failure is the connection's.
    for (const host of ['[::1]', '::1']) {
      await expect(dial({ host, port: 9, clock: systemClock, signal: forever, resolve })).rejects.toMatchObject({
        message: expect.stringContaining('cannot connect to [::1]:9 (::1: ') as string,
      })
    }
  })

  it('ends with its signal while the name is looked up', async () => {
    const controller = new AbortController()
    const dialling = dial({
      host: 'slow.test',
      port: 9,
      clock: systemClock,
      signal: controller.signal,
      resolve: () => new Promise(() => {}),
    })
    controller.abort(new Error('enough'))
    await expect(dialling).rejects.toThrow('enough')
  })
})
