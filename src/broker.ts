// The public names of ottla/broker, and nothing else.
export type { BrokerCluster, BrokerHandle, BrokerSpec } from './broker/broker-cluster.js'
export type { LogLine } from './broker/cluster-state.js'
export type { Fault, Faults, FaultSpec } from './broker/faults/fault.js'
export type { GroupMemberSnapshot, GroupOffsetSnapshot, GroupSnapshot } from './broker/groups/group-snapshot.js'
export type { LoggedBatchInfo, LoggedRecord, TopicInspection } from './broker/inspection.js'
export type { RequestEntry } from './broker/request-log.js'
export { startBroker, type StartBrokerOptions } from './broker/start-broker.js'
export { ConnectionError, isKafkaError, KafkaError, UsageError } from './errors.js'
