// What Apache Kafka's own classes wrote, for every message and version, is read and written alike by ours.
import { describe, expect, test } from 'vitest'
import { apis } from '../../../src/protocol/messages/registry.js'
import {
  encodeRequest,
  encodeResponse,
  readCorrelationId,
  readRequestHeader,
  skipRequestTags,
  skipResponseTags,
} from '../../../src/protocol/wire/frame.js'
import { Reader } from '../../../src/protocol/wire/index.js'
import {
  decode,
  declaredMessages,
  encode,
  fixtures,
  fromFixtureValue,
  headerFixtures,
  toFixtureValue,
  versionsOf,
} from './wire-fixtures.js'

describe.each(declaredMessages)('$name $of', ({ name, of, message }) => {
  const mine = fixtures.get(name)?.filter((fixture) => fixture.of === of) ?? []

  test('is recorded in every version', () => {
    const recorded = mine.map(({ version, variant }) => `${version} ${variant}`)
    expect(recorded).toEqual(versionsOf(message).flatMap((version) => [`${version} full`, `${version} bare`]))
  })

  test.each(mine)("reads Kafka's bytes of version $version ($variant) and writes the same", (fixture) => {
    const { version, value } = fixture
    const bytes = Buffer.from(fixture.bytes, 'base64')

    expect(toFixtureValue(decode(message, version, bytes))).toEqual(value)
    expect(encode(message, version, fromFixtureValue(message.fields, value)).toString('hex')).toBe(
      bytes.toString('hex'),
    )
  })
})

describe('headers', () => {
  test('are recorded for every API and version', () => {
    const recorded = headerFixtures.map(({ api, version }) => `${api} ${version}`)
    expect(recorded).toEqual(
      Object.values(apis).flatMap((api) => versionsOf(api.request as never).map((version) => `${api.name} ${version}`)),
    )
  })

  test.each(headerFixtures)("of $api version $version are Kafka's", (fixture) => {
    const { version, correlationId, clientId } = fixture
    const api = apis[fixture.api]
    const recorded = fixtures.get(fixture.api)!.filter((f) => f.version === version && f.variant === 'full')
    const [request, response] = recorded.map((f) => Buffer.from(f.bytes, 'base64')) as [Buffer, Buffer]
    const requestFrame = framed(Buffer.from(fixture.request, 'base64'), request)
    const responseFrame = framed(Buffer.from(fixture.response, 'base64'), response)

    const requestValue = fromFixtureValue(api.request.fields, recorded[0]!.value)
    expect(Buffer.concat(encodeRequest(api, version, correlationId, clientId, requestValue as never))).toEqual(
      requestFrame,
    )
    const responseValue = fromFixtureValue(api.response.fields, recorded[1]!.value)
    expect(Buffer.concat(encodeResponse(api, version, correlationId, responseValue as never))).toEqual(responseFrame)

    const requestReader = new Reader(requestFrame, 4)
    expect(readRequestHeader(requestReader)).toEqual({ apiKey: api.key, apiVersion: version, correlationId, clientId })
    skipRequestTags(requestReader, api, version)
    expect(requestReader.remaining).toBe(request.length)

    const responseReader = new Reader(responseFrame, 4)
    expect(readCorrelationId(responseReader)).toBe(correlationId)
    skipResponseTags(responseReader, api, version)
    expect(responseReader.remaining).toBe(response.length)
  })

  test('of an ApiVersions response have no tagged fields, so that a client of any age can read a refusal', () => {
    const lengths = headerFixtures
      .filter(({ api }) => api === 'ApiVersions')
      .map(({ response }) => Buffer.from(response, 'base64').length)
    expect(lengths).toEqual([4, 4, 4, 4, 4, 4])
  })
})

function framed(header: Buffer, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(header.length + body.length)
  return Buffer.concat([length, header, body])
}
