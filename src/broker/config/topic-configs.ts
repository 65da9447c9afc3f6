// The configs of a topic, as of Apache Kafka 4.4.
import { atLeast, between, listOf, oneOf, type ConfigDefinition } from './definition.js'

export const topicConfigs: readonly ConfigDefinition[] = [
  {
    name: 'cleanup.policy',
    type: 'list',
    default: 'delete',
    brokerName: 'log.cleanup.policy',
    check: listOf('compact', 'delete'),
    documentation: 'What happens to old records: delete, compact, or both. Nothing is removed by itself in memory.',
  },
  {
    name: 'compression.type',
    type: 'string',
    default: 'producer',
    brokerName: 'compression.type',
    check: oneOf('uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer'),
    documentation: 'The codec in which batches are kept; producer keeps them as they come.',
  },
  {
    name: 'max.message.bytes',
    type: 'int',
    default: '1048588',
    brokerName: 'message.max.bytes',
    check: atLeast(0),
    documentation: 'The largest batch that is taken, after compression.',
  },
  {
    name: 'message.timestamp.type',
    type: 'string',
    default: 'CreateTime',
    brokerName: 'log.message.timestamp.type',
    check: oneOf('CreateTime', 'LogAppendTime'),
    documentation: 'Whether a record keeps the time its producer gave it or gets the time of its append.',
  },
  {
    name: 'message.timestamp.before.max.ms',
    type: 'long',
    default: '9223372036854775807',
    brokerName: 'log.message.timestamp.before.max.ms',
    check: atLeast(0),
    documentation: 'How far before the time of its append a record may be dated.',
  },
  {
    name: 'message.timestamp.after.max.ms',
    type: 'long',
    default: '3600000',
    brokerName: 'log.message.timestamp.after.max.ms',
    check: atLeast(0),
    documentation: 'How far after the time of its append a record may be dated.',
  },
  {
    name: 'retention.ms',
    type: 'long',
    default: '604800000',
    brokerName: 'log.retention.ms',
    check: atLeast(-1),
    documentation: 'How long records are kept under the delete policy; -1 is for ever.',
  },
  {
    name: 'min.insync.replicas',
    type: 'int',
    default: '1',
    brokerName: 'min.insync.replicas',
    check: between(1, 2 ** 31 - 1),
    documentation: 'How many replicas must have a record before acks=all is answered.',
  },
]
