// The cluster a conformance test runs on: the embedded broker, or an Apache Kafka of one or three nodes (OTTLA_KAFKA says which). What a
// test needs to set up or to look at goes by bare requests here, so that nothing of the clients under test is used to check them.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, inject } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { CreatePartitions } from '../../src/protocol/messages/create-partitions.js'
import { CreateTopics } from '../../src/protocol/messages/create-topics.js'
import { DeleteRecords } from '../../src/protocol/messages/delete-records.js'
import { DeleteTopics } from '../../src/protocol/messages/delete-topics.js'
import { DescribeGroups } from '../../src/protocol/messages/describe-groups.js'
import { errorByCode } from '../../src/protocol/messages/error-table.js'
import { Fetch } from '../../src/protocol/messages/fetch.js'
import { FindCoordinator } from '../../src/protocol/messages/find-coordinator.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { OffsetFetch } from '../../src/protocol/messages/offset-fetch.js'
import { recordsOf, splitBatches, type Header } from '../../src/protocol/records/index.js'
import { zeroUuid, type AnyApi, type RequestInput, type ResponseOf } from '../../src/protocol/wire/index.js'
import { attachApacheKafka } from '../helpers/apache-kafka.js'
import { until } from '../helpers/until.js'
import { WireClient } from '../helpers/wire-client.js'

/** How nodes are killed and started again; ids count from 1. */
interface Nodes {
  readonly brokers: readonly string[]
  /** As `kill -9`. */
  kill(id: number): Promise<void>
  start(id: number): Promise<void>
  close(): Promise<void>
}

export interface LoggedBatch {
  readonly baseOffset: number
  readonly compression: string
  readonly producerId: number
  readonly baseSequence: number
  readonly records: readonly LoggedRecord[]
}

export interface LoggedRecord {
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: readonly Header[]
}

const kind = process.env['OTTLA_KAFKA'] ?? 'embedded'
export const isApache = kind !== 'embedded'
/** Whether a partition outlives its leader: not on the embedded broker, whose replication factor is 1 yet. */
export const hasReplicas = isApache && Number(kind) >= 3
/** A factor for waits: Apache Kafka on a small machine takes its time. */
export const waitMs = isApache ? 60_000 : 10_000

/** The cluster of a test file, from its first test to its last. */
export function useCluster(): Cluster {
  let nodes: Nodes | undefined
  beforeAll(async () => {
    nodes = isApache ? attachApacheKafka(inject('apacheKafka')) : await embedded()
  })
  afterAll(async () => {
    if (!isApache) await nodes?.close() // an Apache Kafka is the whole run's
  })
  return new Cluster(() => {
    if (!nodes) throw new Error('the cluster runs only while tests do')
    return nodes
  })
}

/** Three brokers, so that partitions have different leaders as they do on three nodes. */
async function embedded(): Promise<Nodes> {
  const kafka = await startBroker({ brokers: 3, config: { 'group.min.session.timeout.ms': 1000 } })
  return {
    brokers: kafka.brokers,
    kill: (id) => kafka.broker(id).kill(),
    start: (id) => kafka.broker(id).start(),
    close: () => kafka.close(),
  }
}

export class Cluster {
  readonly #nodes: () => Nodes
  readonly #down = new Set<number>()

  constructor(nodes: () => Nodes) {
    this.#nodes = nodes
  }

  get brokers(): readonly string[] {
    return this.#nodes().brokers
  }

  get nodeIds(): number[] {
    return this.brokers.map((_, i) => i + 1)
  }

  /** Options that every client of a test has. */
  get client() {
    return { brokers: this.brokers, logger: 'silent', retryBackoffMs: 20 } as const
  }

  /** As `kill -9`; what was written stays. */
  async kill(...ids: number[]): Promise<void> {
    for (const id of ids) this.#down.add(id)
    await Promise.all(ids.map((id) => this.#nodes().kill(id)))
  }

  /** Starts what was killed, and waits until all brokers are there again. */
  async startAgain(): Promise<void> {
    const ids = [...this.#down]
    this.#down.clear()
    await Promise.all(ids.map((id) => this.#nodes().start(id)))
    await until(
      'every broker knows all brokers',
      async () => {
        const answers = await Promise.all(this.nodeIds.map((id) => this.#ask(Metadata, 12, { topics: [] }, id)))
        return answers.every(({ brokers }) => brokers.length === this.nodeIds.length)
      },
      waitMs,
    )
  }

  /** A name that no other test has. */
  name(base: string): string {
    return `${base}-${randomUUID().slice(0, 8)}`
  }

  // ---- topics

  /** Resolves with the topic's full name when every broker knows it with its leaders. */
  async createTopic(base: string, partitions = 1, configs: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = this.name(base)
    await this.#create(name, partitions, configs)
    return name
  }

  /** Deletes it and creates it anew, with another id and nothing in it. */
  async recreateTopic(name: string, partitions = 1): Promise<void> {
    const { responses } = await this.#ask(DeleteTopics, 6, { topics: [{ name, topicId: zeroUuid }], timeoutMs: 30_000 })
    expectNone(responses[0]?.errorCode, `deleting ${name}`)
    await this.#onEveryBroker(
      `${name} is gone`,
      name,
      (topic) => named(topic?.errorCode) === 'UNKNOWN_TOPIC_OR_PARTITION',
    )
    await this.#create(name, partitions, {})
  }

  async addPartitions(name: string, count: number): Promise<void> {
    const topics = [{ name, count, assignments: null }]
    const { results } = await this.#ask(CreatePartitions, 3, { topics, timeoutMs: 30_000, validateOnly: false })
    expectNone(results[0]?.errorCode, `adding partitions to ${name}`)
    await this.#known(name, count)
  }

  /** Moves the beginning of a partition to `offset`. */
  async deleteRecords(topic: string, partition: number, offset: number): Promise<void> {
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, offset }] }]
    const leader = await this.leaderOf(topic, partition)
    const answer = await this.#ask(DeleteRecords, 2, { topics, timeoutMs: 30_000 }, leader)
    expectNone(answer.topics[0]?.partitions[0]?.errorCode, `deleting records of ${topic}-${partition}`)
  }

  async leaderOf(topic: string, partition: number): Promise<number> {
    const found = await until(
      `${topic}-${partition} has a leader`,
      async () => {
        const { leaderId = -1 } = (await this.#partition(topic, partition)) ?? {}
        return leaderId >= 0 ? { leaderId } : undefined
      },
      waitMs,
    )
    return found.leaderId
  }

  /** The brokers that have everything of a partition. */
  async inSync(topic: string, partition: number): Promise<number[]> {
    return (await this.#partition(topic, partition))?.isrNodes ?? []
  }

  // ---- what is really there

  /** The batches of a partition as they lie in the log, from its leader. */
  async batches(topic: string, partition = 0): Promise<LoggedBatch[]> {
    const batches: LoggedBatch[] = []
    using client = await this.#open(await this.leaderOf(topic, partition))
    for (let fetchOffset = 0; ;) {
      const topics = [{ topic, partitions: [{ partition, fetchOffset, partitionMaxBytes: 8 << 20 }] }]
      const answer = await client.ask(Fetch, 12, {
        maxWaitMs: 0,
        minBytes: 0,
        maxBytes: 8 << 20,
        topics,
        forgottenTopicsData: [],
      })
      const read = answer.responses[0]?.partitions[0]
      expectNone(read?.errorCode, `reading ${topic}-${partition}`)
      const found = splitBatches(read?.records ?? Buffer.alloc(0), { topic, partition })
      for (const batch of found) {
        const { baseOffset, codec, producerId, baseSequence } = batch
        const records = recordsOf(batch).map(({ offset, timestamp, keyBytes, valueBytes, headers }) => ({
          offset,
          timestamp,
          key: keyBytes?.toString('latin1') ?? null,
          value: valueBytes?.toString('latin1') ?? null,
          headers: [...headers],
        }))
        batches.push({ baseOffset, compression: codec.name, producerId, baseSequence, records })
      }
      if (found.length === 0) return batches
      fetchOffset = (found.at(-1)?.lastOffset ?? 0) + 1
    }
  }

  /** The records of a partition as they lie in the log; keys and values in latin1. */
  async records(topic: string, partition = 0): Promise<LoggedRecord[]> {
    return (await this.batches(topic, partition)).flatMap(({ records }) => records)
  }

  /** What a group has committed for a topic, by partition; undefined where nothing is. */
  async committed(group: string, topic: string): Promise<ReadonlyMap<number, { offset: number; metadata: string }>> {
    const partitions = (await this.#metadata(topic))?.partitions ?? []
    const topics = [{ name: topic, partitionIndexes: partitions.map(({ partitionIndex }) => partitionIndex) }]
    const answer = await this.#askCoordinator(
      group,
      OffsetFetch,
      8,
      { groups: [{ groupId: group, topics }] },
      (response) => response.groups[0]?.errorCode,
    )
    const offsets = (answer.groups[0]?.topics[0]?.partitions ?? []).flatMap(
      ({ partitionIndex, committedOffset, metadata }) =>
        committedOffset < 0 ? [] : [[partitionIndex, { offset: committedOffset, metadata: metadata ?? '' }] as const],
    )
    return new Map(offsets)
  }

  /** The state and the members of a group. */
  async describeGroup(group: string): Promise<{ state: string; members: number; memberIds: string[] }> {
    const answer = await this.#askCoordinator(
      group,
      DescribeGroups,
      5,
      { groups: [group] },
      (response) => response.groups[0]?.errorCode,
    )
    const { groupState = 'Dead', members = [] } = answer.groups[0] ?? {}
    return { state: groupState, members: members.length, memberIds: members.map(({ memberId }) => memberId) }
  }

  async coordinatorOf(group: string): Promise<number> {
    const found = await until(
      `group ${group} has a coordinator`,
      async () => {
        const { coordinators } = await this.#ask(FindCoordinator, 4, { coordinatorKeys: [group] })
        const [coordinator] = coordinators
        return coordinator?.errorCode === 0 ? coordinator : undefined
      },
      waitMs,
    )
    return found.nodeId
  }

  // ---- inside

  async #create(name: string, partitions: number, configs: Readonly<Record<string, string>>): Promise<void> {
    const wanted = {
      name,
      numPartitions: partitions,
      replicationFactor: -1,
      assignments: [],
      configs: Object.entries(configs).map(([config, value]) => ({ name: config, value })),
    }
    await until(
      `${name} is created`,
      async () => {
        const { topics } = await this.#ask(CreateTopics, 7, { topics: [wanted], timeoutMs: 30_000 })
        const error = named(topics[0]?.errorCode)
        // A cluster that has just started, or lost a node, may not have enough brokers registered yet.
        if (error === 'INVALID_REPLICATION_FACTOR' && hasReplicas) return false
        expectNone(topics[0]?.errorCode, `creating ${name}: ${topics[0]?.errorMessage}`)
        return true
      },
      waitMs,
    )
    await this.#known(name, partitions)
  }

  #known(name: string, partitions: number): Promise<unknown> {
    return this.#onEveryBroker(`${name} is known`, name, (topic) => {
      if (topic?.errorCode !== 0 || topic.partitions.length !== partitions) return false
      return topic.partitions.every(({ errorCode, leaderId }) => errorCode === 0 && leaderId >= 0)
    })
  }

  #onEveryBroker(what: string, topic: string, holds: (answer: TopicAnswer | undefined) => boolean): Promise<unknown> {
    return Promise.all(
      this.nodeIds.map((id) =>
        until(`${what} at broker ${id}`, async () => holds(await this.#metadata(topic, id)), waitMs),
      ),
    )
  }

  async #partition(topic: string, partition: number) {
    return (await this.#metadata(topic))?.partitions.find(({ partitionIndex }) => partitionIndex === partition)
  }

  async #metadata(name: string, id?: number): Promise<TopicAnswer | undefined> {
    const answer = await this.#ask(Metadata, 12, { topics: [{ name }], allowAutoTopicCreation: false }, id)
    return answer.topics[0]
  }

  /** Asks again while the coordinator is loading or has moved. */
  async #askCoordinator<A extends AnyApi>(
    group: string,
    api: A,
    version: number,
    request: RequestInput<A>,
    errorOf: (response: ResponseOf<A>) => number | undefined,
  ): Promise<ResponseOf<A>> {
    return until(
      `group ${group} answers ${api.name}`,
      async () => {
        const response = await this.#ask(api, version, request, await this.coordinatorOf(group))
        const error = named(errorOf(response))
        if (error === 'NOT_COORDINATOR' || error === 'COORDINATOR_LOAD_IN_PROGRESS') return undefined
        expectNone(errorOf(response), `${api.name} of group ${group}`)
        return response
      },
      waitMs,
    )
  }

  async #ask<A extends AnyApi>(api: A, version: number, request: RequestInput<A>, id?: number): Promise<ResponseOf<A>> {
    using client = await this.#open(id)
    return await client.ask(api, version, request)
  }

  /** A connection to one broker, or to any that takes it. */
  async #open(id?: number): Promise<WireClient> {
    const addresses = id === undefined ? this.brokers : this.brokers.slice(id - 1, id)
    let refused: unknown = new Error(`there is no broker ${id}`)
    for (const address of addresses) {
      try {
        return await WireClient.open(address, 'conformance')
      } catch (error) {
        refused = error
      }
    }
    throw refused
  }
}

type TopicAnswer = ResponseOf<typeof Metadata>['topics'][number]

function named(errorCode: number | undefined): string {
  return errorByCode(errorCode ?? -1).name
}

function expectNone(errorCode: number | undefined, what: string): void {
  if (errorCode !== 0) throw new Error(`${what}: ${named(errorCode)}`)
}
