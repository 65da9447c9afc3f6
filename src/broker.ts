// The public names of ottla/broker, and nothing else.
export { startBroker, type StartBrokerOptions } from './broker/start-broker.js'
export type { BrokerCluster, BrokerSpec } from './broker/broker-cluster.js'
export { isKafkaError, KafkaError, UsageError, ConnectionError } from './errors.js'
