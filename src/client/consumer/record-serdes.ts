// From the topics a user gives to what decodes their records.
import { rawSerde, type AnyTopic, type KeyOf, type Serde, type TopicLike, type ValueOf } from '../serde/index.js'
import type { ConsumerRecord, RecordSerdes } from './consumer-record.js'

/** The records of a topic, by its types: `ConsumerRecord<string | null, Order>`; Buffers for a topic by its name. */
export type ConsumerRecordOf<T extends TopicLike> = T extends TopicLike
  ? ConsumerRecord<KeyOf<T> | null, ValueOf<T>>
  : never

/** Undecoded for a topic that is given by its name alone. */
export function recordSerdes(topic: TopicLike | undefined): RecordSerdes {
  if (topic === undefined || typeof topic === 'string') return { key: undefined, value: undefined }
  return { key: decoderOf(topic.key), value: decoderOf(topic.value) }
}

function decoderOf(serde: AnyTopic['key']): RecordSerdes['key'] {
  if (serde === (rawSerde as Serde<unknown>)) return undefined
  return (bytes) => serde.deserialize(bytes) as unknown
}
