// A topic's configs as the hot path takes them: parsed once per change.
import type { CodecName } from '../../protocol/records/index.js'
import type { ConfigView } from './config-set.js'

export interface TopicSettings {
  readonly maxMessageBytes: number
  readonly isCompacted: boolean
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  /** What may come out of a compressed batch; see docs/reference/differences.md. */
  readonly maxDecompressedBytes: number
  /** producer.id.expiration.ms */
  readonly producerExpirationMs: number
  /** The codec that batches are kept in; undefined for the producer's own. */
  readonly compression: CodecName | undefined
}

/** Kafka's default of 2 GiB would let one batch fill the memory of the test that the broker runs in. */
const safeDecompressedBytes = 256 << 20

export function topicSettings(config: ConfigView, broker: ConfigView): TopicSettings {
  const compression = config.string('compression.type')
  return {
    maxMessageBytes: config.int('max.message.bytes'),
    isCompacted: config.list('cleanup.policy').includes('compact'),
    timestampType: config.string('message.timestamp.type') as TopicSettings['timestampType'],
    timestampBeforeMaxMs: config.int('message.timestamp.before.max.ms'),
    timestampAfterMaxMs: config.int('message.timestamp.after.max.ms'),
    maxDecompressedBytes: Math.min(config.int('max.decompressed.message.bytes'), safeDecompressedBytes),
    producerExpirationMs: broker.int('producer.id.expiration.ms'),
    compression:
      compression === 'producer' ? undefined : compression === 'uncompressed' ? 'none' : (compression as CodecName),
  }
}
