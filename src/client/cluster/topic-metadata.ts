// What is known of brokers, topics and partitions. Values never change once published; a newer picture is a new object.
import type { KafkaError } from '../../errors.js'

export interface BrokerAddress {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

export interface PartitionMetadata {
  readonly partition: number
  /** -1: there is no leader at the moment. */
  readonly leaderId: number
  /** -1: the broker does not tell. */
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  readonly offlineReplicas: readonly number[]
}

export interface TopicMetadata {
  readonly name: string
  /** zeroUuid: the broker has no topic ids; name the topic in requests that have both. */
  readonly topicId: string
  readonly isInternal: boolean
  /** Why nothing else is known of the topic; `partitions` is then empty. */
  readonly error: KafkaError | undefined
  /** Indexed by partition number. */
  readonly partitions: readonly PartitionMetadata[]
}

/** What a broker that no longer leads tells about who does (KIP-951). */
export interface LeaderHint {
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly nodeEndpoints?:
    | readonly { readonly nodeId: number; readonly host: string; readonly port: number; readonly rack: string | null }[]
    | undefined
}

/** One consistent picture of the cluster. */
export interface ClusterSnapshot {
  readonly clusterId: string | null
  /** -1: unknown. */
  readonly controllerId: number
  readonly brokers: ReadonlyMap<number, BrokerAddress>
  readonly topics: ReadonlyMap<string, TopicMetadata>
}
