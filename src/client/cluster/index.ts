// What the clients build on.
export { Cluster } from './cluster.js'
export type { BrokerEvent, ClusterEvents } from './events.js'
export { consoleLogger, type Logger, type LogLevel } from './logger.js'
export { clientOptions, type ClientConfig, type ClientOptions } from './options.js'
export type { BrokerAddress, LeaderHint, PartitionMetadata, TopicMetadata } from './topic-metadata.js'
