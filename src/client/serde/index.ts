// Typed topics: what producer and consumer need of them.
export { bytes, float64, int32, int64, json, nullable, rawSerde, string, uuid, type Serde } from './serde.js'
export {
  topic,
  topicName,
  type AnyTopic,
  type Bytes,
  type KeyInputOf,
  type KeyOf,
  type RecordOf,
  type Topic,
  type TopicLike,
  type TopicSerdes,
  type ValueInputOf,
  type ValueOf,
} from './topic.js'
