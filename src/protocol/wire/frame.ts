// Frames: the 4-byte length, the request and response headers of every version, and the splitting of a byte stream.
import type { AnyApi, RequestInput, ResponseInput } from './api.js'
import type { Reader } from './reader.js'
import { malformed } from './reader.js'
import { includes } from './versions.js'
import { Writer } from './writer.js'

const API_VERSIONS = 18
const LENGTH_BYTES = 4

export interface RequestHeader {
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
}

/** A whole frame, ready for one corked write. */
export function encodeRequest<A extends AnyApi>(
  api: A,
  version: number,
  correlationId: number,
  clientId: string | null,
  request: RequestInput<A>,
): readonly Uint8Array[] {
  const writer = new Writer()
  writer.int32(0)
  writer.int16(api.key)
  writer.int16(version)
  writer.int32(correlationId)
  if (clientId === null) {
    writer.int16(-1)
  } else {
    const bytes = Buffer.byteLength(clientId)
    writer.int16(bytes)
    writer.utf8(clientId, bytes)
  }
  if (includes(api.request.flexible, version)) writer.uvarint(0)
  api.request.write(writer, version, request)
  return framed(writer)
}

export function encodeResponse<A extends AnyApi>(
  api: A,
  version: number,
  correlationId: number,
  response: ResponseInput<A>,
): readonly Uint8Array[] {
  const writer = new Writer()
  writer.int32(0)
  writer.int32(correlationId)
  if (hasResponseTags(api, version)) writer.uvarint(0)
  api.response.write(writer, version, response)
  return framed(writer)
}

function framed(writer: Writer): readonly Uint8Array[] {
  const length = writer.length - LENGTH_BYTES
  const chunks = writer.finish()
  const first = chunks[0] as Uint8Array
  Buffer.from(first.buffer, first.byteOffset, LENGTH_BYTES).writeInt32BE(length)
  return chunks
}

// A client that asks for too new an ApiVersions version must be able to read the refusal (KIP-511): no tags in that header, ever.
function hasResponseTags(api: AnyApi, version: number): boolean {
  return api.key !== API_VERSIONS && includes(api.response.flexible, version)
}

/** The part of a request header that every version shares; call {@link skipRequestTags} once the API is known. */
export function readRequestHeader(reader: Reader): RequestHeader {
  const apiKey = reader.int16()
  const apiVersion = reader.int16()
  const correlationId = reader.int32()
  const length = reader.int16()
  if (length < -1) throw malformed(`the client id has length ${length}`)
  return { apiKey, apiVersion, correlationId, clientId: length < 0 ? null : reader.utf8(length) }
}

export function skipRequestTags(reader: Reader, api: AnyApi, version: number): void {
  if (includes(api.request.flexible, version)) skipTags(reader)
}

export function readCorrelationId(reader: Reader): number {
  return reader.int32()
}

export function skipResponseTags(reader: Reader, api: AnyApi, version: number): void {
  if (hasResponseTags(api, version)) skipTags(reader)
}

function skipTags(reader: Reader): void {
  for (let left = reader.uvarint(); left > 0; left--) {
    reader.uvarint()
    reader.skip(reader.uvarint())
  }
}

/**
 * Splits a byte stream, in chunks of any size, into frames without their length. A frame that lies whole in one chunk is a view of
 * it; any other is copied once.
 */
export class FrameSplitter {
  readonly #maxFrameBytes: number
  readonly #onFrame: (frame: Buffer) => void
  readonly #length = Buffer.alloc(LENGTH_BYTES)
  #lengthBytes = 0
  #frame: Buffer | undefined
  #frameBytes = 0

  constructor(maxFrameBytes: number, onFrame: (frame: Buffer) => void) {
    this.#maxFrameBytes = maxFrameBytes
    this.#onFrame = onFrame
  }

  /** Throws MALFORMED_MESSAGE when a length is negative or above the limit; the stream is then of no further use. */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#frame) {
        at += this.#fill(this.#frame, chunk, at)
      } else if (this.#lengthBytes === 0 && chunk.length - at >= LENGTH_BYTES) {
        const length = this.#checked(chunk, at)
        at += LENGTH_BYTES
        if (length <= chunk.length - at) {
          this.#onFrame(chunk.subarray(at, at + length))
          at += length
        } else {
          this.#begin(length)
        }
      } else {
        this.#length[this.#lengthBytes++] = chunk[at++] as number
        if (this.#lengthBytes === LENGTH_BYTES) {
          this.#lengthBytes = 0
          const length = this.#checked(this.#length, 0)
          if (length === 0) this.#onFrame(Buffer.alloc(0))
          else this.#begin(length)
        }
      }
    }
  }

  #checked(buffer: Buffer, at: number): number {
    const length = buffer.readInt32BE(at)
    if (length < 0 || length > this.#maxFrameBytes) {
      throw malformed(
        `a frame of ${length} bytes (0x${buffer.toString('hex', at, at + 4)}), allowed are ${this.#maxFrameBytes}`,
      )
    }
    return length
  }

  #begin(length: number): void {
    this.#frame = Buffer.allocUnsafeSlow(length)
    this.#frameBytes = 0
  }

  #fill(frame: Buffer, chunk: Buffer, at: number): number {
    const copied = chunk.copy(frame, this.#frameBytes, at)
    this.#frameBytes += copied
    if (this.#frameBytes === frame.length) {
      this.#frame = undefined
      this.#onFrame(frame)
    }
    return copied
  }
}
