// Creating topics with Kafka's validation, for CreateTopics, for Metadata's auto-creation and for the handle.
import { errorCodes } from '../protocol/messages/error-table.js'
import type { ClusterState } from './cluster-state.js'
import { InvalidConfig } from './config/definition.js'
import { collidingName, whyIllegal } from './topic-names.js'

export interface NewTopic {
  readonly name: string
  /** -1: the broker's num.partitions. */
  readonly numPartitions: number
  /** -1: the broker's default.replication.factor. */
  readonly replicationFactor: number
  readonly assignments: readonly { readonly partitionIndex: number; readonly brokerIds: readonly number[] }[]
  readonly configs: readonly { readonly name: string; readonly value: string | null }[]
}

export interface Plan {
  readonly partitions: number
  readonly assignment: number[][] | undefined
  readonly texts: ReadonlyMap<string, string>
}

/** Kafka makes no more by one request. */
const mostPartitionsAtOnce = 10_000

export class Refused extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export function tooManyPartitions(count: number): Refused | undefined {
  if (count <= mostPartitionsAtOnce) return undefined
  return new Refused(errorCodes.POLICY_VIOLATION, 'Excessively large number of partitions per request.')
}

/** What would be created. Throws Refused. */
export function planTopic(cluster: ClusterState, topic: NewTopic): Plan {
  const { name, configs } = topic
  const illegal = whyIllegal(name)
  if (illegal !== undefined) throw new Refused(errorCodes.INVALID_TOPIC_EXCEPTION, illegal)
  if (cluster.topics.has(name)) throw new Refused(errorCodes.TOPIC_ALREADY_EXISTS, `Topic '${name}' already exists.`)
  const other = collidingName(name, cluster.topics.keys())
  if (other !== undefined) {
    const message = `Topic '${name}' collides with existing topic: ${other}`
    throw new Refused(errorCodes.INVALID_TOPIC_EXCEPTION, message)
  }
  const texts = checkedTopicTexts(cluster, name, configs)
  if (topic.assignments.length > 0) return { ...planAssignment(cluster, topic), texts }
  const { numPartitions, replicationFactor } = topic
  if (replicationFactor < -1 || replicationFactor === 0) {
    throw new Refused(
      errorCodes.INVALID_REPLICATION_FACTOR,
      'Replication factor must be larger than 0, or -1 to use the default value.',
    )
  }
  if (numPartitions < -1 || numPartitions === 0) {
    throw new Refused(errorCodes.INVALID_PARTITIONS, 'Number of partitions was set to an invalid non-positive value.')
  }
  const replicas = replicationFactor === -1 ? cluster.config.int('default.replication.factor') : replicationFactor
  requireOneReplica(cluster, replicas)
  const partitions = numPartitions === -1 ? cluster.config.int('num.partitions') : numPartitions
  const tooMany = tooManyPartitions(partitions)
  if (tooMany) throw tooMany
  return { partitions, assignment: undefined, texts }
}

export function requireOneReplica(cluster: ClusterState, replicas: number): void {
  const alive = cluster.aliveNodes().length
  if (replicas === 1 && alive > 0) return
  const message =
    replicas > alive
      ? `Unable to replicate the partition ${replicas} time(s): The target replication factor of ${replicas} cannot be reached because only ${alive} broker(s) are registered or some brokers have all their log directories cordoned.`
      : `This broker keeps one replica of a partition, not ${replicas}.`
  throw new Refused(errorCodes.INVALID_REPLICATION_FACTOR, message)
}

function planAssignment(cluster: ClusterState, { numPartitions, replicationFactor, assignments }: NewTopic) {
  if (replicationFactor !== -1) {
    throw new Refused(
      errorCodes.INVALID_REQUEST,
      'A manual partition assignment was specified, but replication factor was not set to -1.',
    )
  }
  if (numPartitions !== -1) {
    throw new Refused(
      errorCodes.INVALID_REQUEST,
      'A manual partition assignment was specified, but numPartitions was not set to -1.',
    )
  }
  const assignment: number[][] = []
  for (const { partitionIndex, brokerIds } of assignments) {
    if (assignment[partitionIndex]) {
      throw new Refused(
        errorCodes.INVALID_REPLICA_ASSIGNMENT,
        `Found multiple manual partition assignments for partition ${partitionIndex}`,
      )
    }
    assignment[partitionIndex] = checkedReplicas(cluster, brokerIds)
  }
  if (assignment.includes(undefined as never) || assignment.length !== assignments.length) {
    throw new Refused(
      errorCodes.INVALID_REPLICA_ASSIGNMENT,
      'partitions should be a consecutive 0-based integer sequence',
    )
  }
  return { partitions: assignment.length, assignment }
}

export function checkedReplicas(cluster: ClusterState, brokerIds: readonly number[]): number[] {
  const refuse = (message: string): never => {
    throw new Refused(errorCodes.INVALID_REPLICA_ASSIGNMENT, message)
  }
  if (brokerIds.length === 0) refuse('The manual partition assignment includes an empty replica list.')
  if (new Set(brokerIds).size < brokerIds.length) {
    refuse(`The manual partition assignment includes the broker ${brokerIds[0]} more than once.`)
  }
  for (const id of brokerIds) {
    if (!cluster.nodes.has(id)) {
      refuse(`The manual partition assignment includes broker ${id}, but no such broker is registered.`)
    }
  }
  if (brokerIds.length > 1) requireOneReplica(cluster, brokerIds.length)
  return [...brokerIds]
}

/** The texts of a topic's own configs. Throws Refused. */
export function checkedTopicTexts(
  cluster: ClusterState,
  topic: string,
  configs: NewTopic['configs'],
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const { name, value } of configs) {
    if (value === null) {
      throw new Refused(errorCodes.INVALID_CONFIG, `Null value not supported for topic configs: ${name}`)
    }
    texts.set(name, value)
  }
  validateTopicTexts(cluster, topic, texts)
  return texts
}

export function validateTopicTexts(cluster: ClusterState, _topic: string, texts: ReadonlyMap<string, string>): void {
  const view = cluster.topicConfig(texts)
  try {
    for (const name of texts.keys()) view.value(name)
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    throw new Refused(errorCodes.INVALID_CONFIG, error.message)
  }
}

/** Creates a topic with the broker's defaults, if that is possible. */
export function createByName(cluster: ClusterState, name: string): void {
  try {
    const topic: NewTopic = { name, numPartitions: -1, replicationFactor: -1, assignments: [], configs: [] }
    const { partitions, texts } = planTopic(cluster, topic)
    cluster.createTopic(name, partitions, texts)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    cluster.log('info', `topic ${name} was asked for but not created: ${error.message}`)
  }
}
