// What others use of the producer.
export type { Acks, Compression, ProducerOptions } from './options.js'
export { Producer, type ProducerEvents } from './producer.js'
export { SendError } from './send-error.js'
export type { Message, ProducerRecord, RecordMetadata, SendOutcome } from './types.js'
export type { PartitionerName, PartitionFunction, PartitionRequest } from './partitioners/index.js'
