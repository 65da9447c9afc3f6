// The codecs by the id in a batch's attributes and by name.
import { KafkaError } from '../../../errors.js'
import type { Codec, CodecName } from './codec.js'
import { gzip } from './gzip.js'
import { lz4 } from './lz4.js'
import { snappy } from './snappy.js'
import { zstd } from './zstd.js'

export type { Codec, CodecName } from './codec.js'

const none: Codec = {
  id: 0,
  name: 'none',
  load: () => null,
  compress: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  decompress: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
}

const codecs: readonly Codec[] = [none, gzip, snappy, lz4, zstd]

/** Names as Kafka's configs have them. */
export const codecNames: readonly CodecName[] = codecs.map(({ name }) => name)

/** @throws {KafkaError} UNSUPPORTED_COMPRESSION_TYPE for ids that no version of Kafka has. */
export function codecById(id: number): Codec {
  const codec = codecs[id]
  if (codec === undefined) {
    throw new KafkaError(`no codec has the id ${id}`, { code: 'UNSUPPORTED_COMPRESSION_TYPE' })
  }
  return codec
}

export function codecByName(name: CodecName): Codec {
  const codec = codecs.find((candidate) => candidate.name === name)
  if (codec === undefined) throw new KafkaError(`no codec is called ${name}`, { code: 'UNSUPPORTED_COMPRESSION_TYPE' })
  return codec
}
