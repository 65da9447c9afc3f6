import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiVersions } from '../../../src/protocol/messages/api-versions.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import {
  encodeRequest,
  encodeResponse,
  FrameSplitter,
  readCorrelationId,
  readRequestHeader,
  skipRequestTags,
  skipResponseTags,
} from '../../../src/protocol/wire/frame.js'
import { Reader } from '../../../src/protocol/wire/index.js'

function framesOf(chunks: readonly Buffer[], maxFrameBytes = 1000): string[] {
  const frames: string[] = []
  const splitter = new FrameSplitter(maxFrameBytes, (frame) => frames.push(frame.toString('hex')))
  for (const chunk of chunks) splitter.push(chunk)
  return frames
}

function framed(payload: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(payload.length)
  return Buffer.concat([length, payload])
}

describe('frames', () => {
  it('T100 come out whole however the stream is cut into chunks', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 })
    fc.assert(
      fc.property(payloads, fc.array(fc.integer({ min: 1, max: 9 })), (frames, cuts) => {
        const stream = Buffer.concat(frames.map(framed))
        const chunks: Buffer[] = []
        let at = 0
        for (const cut of [...cuts, stream.length]) chunks.push(stream.subarray(at, (at += cut)))
        expect(framesOf(chunks.filter((chunk) => chunk.length > 0))).toEqual(
          frames.map((frame) => Buffer.from(frame).toString('hex')),
        )
      }),
    )
  })

  it.each([
    ['a negative length', [0xff, 0xff, 0xff, 0xff]],
    ['the length that an HTTP answer seems to have', [...Buffer.from('HTTP/1.1')]],
  ])('T100 are refused with %s', (_, bytes) => {
    expect(() => framesOf([Buffer.from(bytes)])).toThrow(expect.objectContaining({ code: 'MALFORMED_MESSAGE' }))
    expect(() => framesOf(bytes.map((byte) => Buffer.from([byte])))).toThrow(
      expect.objectContaining({ code: 'MALFORMED_MESSAGE' }),
    )
  })
})

function readerOf(chunks: readonly Uint8Array[]): Reader {
  const frame = Buffer.concat(chunks)
  expect(frame.readInt32BE(0)).toBe(frame.length - 4)
  return new Reader(frame, 4)
}

describe('headers', () => {
  it.each([0, 3, 4])('of requests are read back in Heartbeat v%i', (version) => {
    const request = { groupId: 'g', generationId: 1, memberId: 'm', groupInstanceId: null }
    const reader = readerOf(encodeRequest(Heartbeat, version, 7, 'cliänt', request))
    expect(readRequestHeader(reader)).toEqual({
      apiKey: 12,
      apiVersion: version,
      correlationId: 7,
      clientId: 'cliänt',
    })
    skipRequestTags(reader, Heartbeat, version)
    expect(Heartbeat.request.read(reader, version)).toEqual(request)
    expect(reader.remaining).toBe(0)
  })

  it('of requests may have no client id', () => {
    const request = { groupId: 'g', generationId: 1, memberId: 'm' }
    expect(readRequestHeader(readerOf(encodeRequest(Heartbeat, 4, 1, null, request))).clientId).toBeNull()
  })

  it('of an ApiVersions answer never have tags, of other flexible answers always', () => {
    const withoutTags = readerOf(encodeResponse(ApiVersions, 4, 9, { errorCode: 35, apiKeys: [] }))
    expect(readCorrelationId(withoutTags)).toBe(9)
    skipResponseTags(withoutTags, ApiVersions, 4)
    expect(withoutTags.int16()).toBe(35)

    const withTags = readerOf(encodeResponse(Heartbeat, 4, 9, { errorCode: 27 }))
    expect(readCorrelationId(withTags)).toBe(9)
    skipResponseTags(withTags, Heartbeat, 4)
    expect(Heartbeat.response.read(withTags, 4)).toEqual({ throttleTimeMs: 0, errorCode: 27 })
  })
})
