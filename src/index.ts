// The public names of the client, and nothing else.
export {
  AuthorizationError,
  ConnectionError,
  FencedError,
  KafkaError,
  RecordError,
  UsageError,
  isKafkaError,
  type ClientErrorCode,
  type ErrorCode,
  type KafkaErrorDetails,
} from './errors.js'
