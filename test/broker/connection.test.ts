// What a connection does with bytes of any kind, versions and limits; listening and closing.
import { connect, createServer } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { startBroker, type BrokerCluster } from '../../src/broker.js'
import { ApiVersions } from '../../src/protocol/messages/api-versions.js'
import { errorCodes } from '../../src/protocol/messages/error-table.js'
import { Heartbeat } from '../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { apis } from '../../src/protocol/messages/registry.js'
import { encodeRequest } from '../../src/protocol/wire/frame.js'
import { fetch, fetchOf } from './produce-fetch-lab.js'
import { WireClient } from './wire-client.js'

/** Sends the bytes and returns what came back until the broker closed, or until `enough`. */
function exchanged(kafka: BrokerCluster, bytes: Uint8Array, enough = Infinity): Promise<Buffer> {
  const [host, port] = kafka.brokers[0]!.split(':')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: host!, port: Number(port) }, () => socket.write(bytes))
    const done = () => {
      socket.destroy()
      resolve(Buffer.concat(chunks))
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (Buffer.concat(chunks).length >= enough) done()
    })
    socket.on('error', () => undefined)
    socket.on('close', done)
  })
}

const wholeRequest = (version: number, key = ApiVersions.key) => {
  const bytes = Buffer.concat(encodeRequest(Metadata, 12, 7, 'x', { topics: [] }))
  bytes.writeInt16BE(key, 4)
  bytes.writeInt16BE(version, 6)
  return bytes
}

const software = { clientSoftwareName: 'ottla', clientSoftwareVersion: '1.0' }

describe('versions', () => {
  test('T108 an ApiVersions version from the future is answered in version 0 with the range it has', async () => {
    await using kafka = await startBroker()
    const answer = await exchanged(kafka, wholeRequest(99), 20)
    expect(answer.readInt32BE(0)).toBe(answer.length - 4)
    expect(answer.readInt32BE(4)).toBe(7)
    expect(answer.readInt16BE(8)).toBe(errorCodes.UNSUPPORTED_VERSION)
    expect([answer.readInt32BE(10), answer.readInt16BE(14), answer.readInt16BE(16), answer.readInt16BE(18)]).toEqual([
      1, 18, 0, 5,
    ])
  })

  test.each([
    ['an unknown API', 1, 999],
    ['an API that the broker does not have yet', 0, 24],
    ['a version from the future', 99, Metadata.key],
    ['Produce 2, which is advertised but gone', 2, 0],
  ])('B12 %s closes the connection', async (_what, version, key) => {
    await using kafka = await startBroker()
    expect((await exchanged(kafka, wholeRequest(version, key))).length).toBe(0)
  })

  test('every API of part 1 is advertised with its stable versions, Produce from 0', async () => {
    await using kafka = await startBroker()
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { apiKeys } = await client.send(ApiVersions, software)
    const expected = Object.values(apis)
      .map(({ key, stableVersions: { min, max } }) => ({
        apiKey: key,
        minVersion: key === 0 ? 0 : min,
        maxVersion: max,
      }))
      .sort((a, b) => a.apiKey - b.apiKey)
    expect(apiKeys).toEqual(expected)
  })

  test('ApiVersions refuses software names with odd characters, and clients of another cluster (KIP-1242)', async () => {
    await using kafka = await startBroker()
    await using client = await WireClient.open(kafka.brokers[0]!)
    const code = async (more: object) => (await client.send(ApiVersions, { ...software, ...more })).errorCode
    expect(await code({ clientSoftwareName: 'no spaces' })).toBe(errorCodes.INVALID_REQUEST)
    expect(await code({ clusterId: 'another' })).toBe(errorCodes.INVALID_REQUEST)
    expect(await code({ nodeId: 1 })).toBe(errorCodes.INVALID_REQUEST)
    const { clusterId } = await client.send(Metadata, { topics: [] })
    expect(await code({ clusterId: 'another', nodeId: 1 })).toBe(errorCodes.REBOOTSTRAP_REQUIRED)
    expect(await code({ clusterId, nodeId: 9 })).toBe(errorCodes.REBOOTSTRAP_REQUIRED)
    expect(await code({ clusterId, nodeId: 1 })).toBe(0)
  })
})

describe('any bytes', () => {
  test.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['a TLS greeting', Buffer.from('16030100c8010000c40303', 'hex')],
    ['a negative length', Buffer.from('ffffffff00000000', 'hex')],
    ['a frame above socket.request.max.bytes', Buffer.from('7fffffff00120000', 'hex')],
    ['an empty frame', Buffer.from('00000000', 'hex')],
    ['a header that ends early', Buffer.from('00000004001200', 'hex')],
    [
      'a client id longer than the frame',
      Buffer.concat([
        Buffer.from('0000000a', 'hex'),
        Buffer.from('0012000000000001', 'hex'),
        Buffer.from('7fff', 'hex'),
      ]),
    ],
  ])('%s ends the connection and nothing else', async (_name, bytes) => {
    await using kafka = await startBroker()
    await using other = await WireClient.open(kafka.brokers[0]!)
    const isCut = bytes.length < 8
    const answered = exchanged(kafka, isCut ? Buffer.concat([bytes, Buffer.alloc(8)]) : bytes)
    expect((await answered).length).toBe(0)
    expect((await other.send(ApiVersions, software)).errorCode).toBe(0)
  })

  test('fuzz: random and damaged requests never break the broker', async () => {
    await using kafka = await startBroker({ topics: { t: 2 } })
    const keys = Object.values(apis)
    const damaged = fc
      .record({ api: fc.constantFrom(...keys), version: fc.nat(20), body: fc.uint8Array({ maxLength: 200 }) })
      .map(({ api, version, body }) => {
        const head = Buffer.alloc(14)
        head.writeInt32BE(10 + body.length, 0)
        head.writeInt16BE(api.key, 4)
        head.writeInt16BE(Math.min(version, api.stableVersions.max), 6)
        head.writeInt32BE(1, 8)
        head.writeInt16BE(-1, 12)
        return Buffer.concat([head, body])
      })
    const endMark = Buffer.from('80000000', 'hex') // a length that ends the connection
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }).map((b) => Buffer.from(b)),
          damaged,
        ),
        async (bytes) => {
          const [host, port] = kafka.brokers[0]!.split(':')
          await new Promise<void>((resolve) => {
            const socket = connect({ host: host!, port: Number(port) }, () =>
              socket.end(Buffer.concat([bytes, endMark])),
            )
            socket.on('data', () => undefined)
            socket.on('error', () => undefined)
            socket.on('close', () => resolve())
            socket.setTimeout(300, () => socket.destroy()) // a request that waits as it should
          })
        },
      ),
      { numRuns: 300 },
    )
    await using client = await WireClient.open(kafka.brokers[0]!)
    expect((await client.send(ApiVersions, software)).errorCode).toBe(0)
  })
})

describe('one request at a time (B13)', () => {
  test('answers come in the order of the requests, though the first one waits', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const order: string[] = []
    const poll = fetch(client, fetchOf('t', [{ partition: 0 }], { maxWaitMs: 60_000 })).then(() => order.push('fetch'))
    const versions = client.send(ApiVersions, software).then(() => order.push('versions'))
    await expect.poll(() => kafka.requests.length).toBe(1)
    kafka.clock.advance(60_000)
    await Promise.all([poll, versions])
    expect(order).toEqual(['fetch', 'versions'])
  })

  test('requests are read from any chunking of the stream', async () => {
    await using kafka = await startBroker()
    await using client = await WireClient.open(kafka.brokers[0]!)
    const answers = client.send(ApiVersions, software)
    await answers
    const bytes = Buffer.concat(encodeRequest(Heartbeat, 4, 1, 'c', { groupId: 'g', generationId: 1, memberId: 'm' }))
    const whole = exchanged(kafka, bytes, 12)
    expect((await whole).readInt16BE(13)).toBe(errorCodes.UNKNOWN_MEMBER_ID)
    for (const byte of bytes) client.socket.write(Buffer.of(byte))
    await expect.poll(() => kafka.requests.filter(({ api }) => api === 'Heartbeat').length).toBe(2)
  })

  test('an idle connection is closed after connections.max.idle.ms', async () => {
    await using kafka = await startBroker({ config: { 'connections.max.idle.ms': 10_000 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    kafka.clock.advance(9_000)
    await client.send(ApiVersions, software)
    kafka.clock.advance(9_000)
    await client.send(ApiVersions, software)
    kafka.clock.advance(10_001)
    await client.closed
    expect(client.socket.destroyed).toBe(true)
  })
})

describe('listening', () => {
  test('B15 a thousand brokers started and closed leave nothing behind', async () => {
    for (let i = 0; i < 1000; i++) {
      const kafka = await startBroker({ topics: { t: 1 } })
      if (i % 100 === 0) {
        const client = await WireClient.open(kafka.brokers[0]!)
        const waiting = fetch(client, fetchOf('t', [{ partition: 0 }], { maxWaitMs: 60_000 }))
        const gone = expect(waiting).rejects.toThrow('closed')
        await expect.poll(() => kafka.requests.length).toBe(1)
        await kafka.close()
        await gone
      }
      await kafka.close()
    }
    const open = () => process.getActiveResourcesInfo().filter((kind) => /^TCP/.test(kind))
    await expect.poll(open).toEqual([])
  })

  test('T96 localhost is IPv4 and IPv6', async () => {
    await using kafka = await startBroker({ host: 'localhost' })
    const port = kafka.brokers[0]!.split(':')[1]!
    expect(kafka.brokers).toEqual([`localhost:${port}`])
    for (const host of ['127.0.0.1', '::1']) {
      await using client = await WireClient.open(`[${host}]:${port}`)
      const { brokers } = await client.send(Metadata, { topics: [] })
      expect(brokers).toEqual([{ nodeId: 1, host: 'localhost', port: Number(port), rack: null }])
    }
  })

  test('a broker on all addresses is advertised at the one by which the client came', async () => {
    await using kafka = await startBroker({ host: '0.0.0.0' })
    const port = kafka.brokers[0]!.split(':')[1]!
    await using client = await WireClient.open(`127.0.0.1:${port}`)
    const { brokers } = await client.send(Metadata, { topics: [] })
    expect(brokers[0]!.host).toBe('127.0.0.1')
  })

  test('a port that is taken is a typed error', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await expect(startBroker({ port })).rejects.toMatchObject({ code: 'CONNECTION_FAILED', retriable: false })
    await new Promise((resolve) => server.close(resolve))
  })

  test.each([
    [{ brokers: 0 }, /brokers must be a number of 1-100/],
    [{ brokers: [{ rock: 'a' }] }, /brokers must be/],
    [{ topics: { t: 0 } }, /topics must be/],
    [{ topics: { 'a b': 1 } }, /Topic name is invalid/],
    [{ port: -1 }, /port must be an integer of 0-65535/],
    [{ prt: 1 }, /unknown option prt/],
    [{ config: { 'num.partition': 3 } }, /unknown broker config num.partition/],
    [{ config: { 'num.partitions': 'many' } }, /Invalid value many for configuration num.partitions/],
  ])('startBroker(%j) throws with what is allowed', async (options, message) => {
    await expect(startBroker(options as never)).rejects.toThrow(message)
  })
})
