import { describe, expect, it } from 'vitest'
import { ApiVersions } from '../../src/protocol/messages/api-versions.js'
import { Fetch } from '../../src/protocol/messages/fetch.js'
import { Heartbeat } from '../../src/protocol/messages/heartbeat.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { Produce } from '../../src/protocol/messages/produce.js'
import { FakeServer, responseBytes } from '../helpers/fake-server.js'
import { heartbeat, open } from './connection-helpers.js'

const newest = ApiVersions.stableVersions.max

describe('version negotiation', () => {
  it('T108 asks in the newest version first and says who it is', async () => {
    await using server = await FakeServer.start()
    const connection = await open(server, { expected: { clusterId: 'c', nodeId: 7 } })
    expect(server.received).toMatchObject([
      { version: newest, request: { clientSoftwareName: 'ottla', clusterId: 'c', nodeId: 7 } },
    ])
    await connection.close()
  })

  it('T108 asks again in the version that is listed in a refusal, which comes in version 0', async () => {
    await using server = await FakeServer.start()
    server.on(ApiVersions, (_, { version, correlationId }) =>
      version > 2
        ? responseBytes(ApiVersions, 0, correlationId, { ...server.apiVersions({ ApiVersions: 2 }), errorCode: 35 })
        : server.apiVersions({ ApiVersions: 2, Metadata: 5 }),
    )
    const connection = await open(server)
    expect(server.received.map(({ version }) => version)).toEqual([newest, 2])
    expect(connection.versionOf(Metadata)).toBe(5)
    expect(connection.versionOf(Heartbeat)).toBe(Heartbeat.stableVersions.max)
    await connection.close()
  })

  it('T108 falls back to version 0 when the refusal lists nothing, and only once', async () => {
    await using server = await FakeServer.start()
    const refusal = (correlationId: number) =>
      responseBytes(ApiVersions, 0, correlationId, { errorCode: 35, apiKeys: [] })
    server.on(ApiVersions, (_, { version, correlationId }) =>
      version > 0 ? refusal(correlationId) : server.apiVersions(),
    )
    const connection = await open(server)
    expect(server.received.map(({ version }) => version)).toEqual([newest, 0])
    await connection.close()
    server.on(ApiVersions, (_, { correlationId }) => refusal(correlationId))
    await expect(open(server)).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' })
  })

  it('T108 an API that the broker lacks is an error where it is used, not at connect', async () => {
    await using server = await FakeServer.start()
    server.on(Heartbeat, () => ({ errorCode: 0 }))
    const connection = await open(server)
    await expect(
      connection.send(Fetch, { maxWaitMs: 0, minBytes: 0, topics: [], forgottenTopicsData: [] }),
    ).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
      retriable: false,
      message: `broker ${server.address} cannot serve Fetch: it does not have it at all`,
    })
    expect(connection.supports(Fetch)).toBe(false)
    expect(await connection.send(Heartbeat, heartbeat)).toMatchObject({ errorCode: 0 })
    await connection.close()
  })

  it('T108 has no common version when the broker is too old or too new', async () => {
    await using server = await FakeServer.start()
    server.on(ApiVersions, () => ({
      errorCode: 0,
      apiKeys: [
        { apiKey: Produce.key, minVersion: 0, maxVersion: 2 },
        { apiKey: Metadata.key, minVersion: 90, maxVersion: 99 },
      ],
    }))
    const connection = await open(server)
    expect(() => connection.versionOf(Produce)).toThrow('it has versions 0-2, needed is one of 3-13')
    expect(() => connection.versionOf(Metadata)).toThrow('it has versions 90-99')
    await connection.close()
  })

  it('T110 a broker that lists Produce from 0 gets the newest version all the same', async () => {
    await using server = await FakeServer.start()
    server.on(ApiVersions, () => ({ errorCode: 0, apiKeys: [{ apiKey: Produce.key, minVersion: 0, maxVersion: 13 }] }))
    const connection = await open(server)
    expect(connection.versionOf(Produce)).toBe(13)
    await connection.close()
  })

  it('T45 a caller can stay below a version, and cannot leave what the broker has', async () => {
    await using server = await FakeServer.start()
    server.on(Produce, () => ({ responses: [] }))
    const connection = await open(server)
    const request = { acks: -1, timeoutMs: 1, topicData: [] }
    expect(connection.versionOf(Produce, 12)).toBe(12)
    await connection.send(Produce, request, { maxVersion: 12 })
    await connection.send(Produce, request, { version: 9 })
    expect(server.requestsOf(Produce).map(({ version }) => version)).toEqual([12, 9])
    await expect(connection.send(Produce, request, { maxVersion: 2 })).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
    })
    await expect(connection.send(Produce, request, { version: 99 })).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
    })
    await connection.close()
  })

  it('tells the features that the cluster has finalized', async () => {
    await using server = await FakeServer.start()
    server.on(ApiVersions, () => ({
      ...server.apiVersions(),
      finalizedFeaturesEpoch: 3,
      finalizedFeatures: [{ name: 'group.version', minVersionLevel: 0, maxVersionLevel: 1 }],
    }))
    const connection = await open(server)
    expect([...connection.features]).toEqual([['group.version', { min: 0, max: 1 }]])
    await connection.close()
  })

  it('tells when the broker at the address is another one (KIP-1242)', async () => {
    await using server = await FakeServer.start()
    server.on(ApiVersions, () => ({ ...server.apiVersions(), errorCode: 129 }))
    await expect(open(server)).rejects.toMatchObject({ code: 'REBOOTSTRAP_REQUIRED' })
  })
})
