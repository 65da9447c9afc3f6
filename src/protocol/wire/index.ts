// The vocabulary of message declarations, and what reads and writes them.
export {
  api,
  message,
  type AnyApi,
  type Message,
  type RequestInput,
  type RequestOf,
  type ResponseInput,
  type ResponseOf,
} from './api.js'
export {
  array,
  bool,
  bytes,
  float64,
  int16,
  int32,
  int64,
  int8,
  records,
  string,
  struct,
  uint16,
  uuid,
  Field,
  type AnyField,
  type Fields,
  type FieldSpec,
  type InOf,
  type OutOf,
} from './field.js'
export { int64Max, malformed, Reader } from './reader.js'
export { zeroUuid } from './uuid.js'
export { everyVersion, includes, parseVersions, type Versions } from './versions.js'
export { Writer } from './writer.js'
