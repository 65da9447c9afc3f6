// What all brokers of one process share: nodes, topics, leaders, configs, and who coordinates which group. No sockets, no requests.
import { UsageError } from '../errors.js'
import { Events } from '../util/events.js'
import type { SettableClock } from '../util/settable-clock.js'
import { brokerConfigs } from './config/broker-configs.js'
import { byName, configSource, ConfigView } from './config/config-set.js'
import { topicConfigs } from './config/topic-configs.js'
import { topicSettings } from './config/topic-settings.js'
import { FetchSessions } from './fetch/fetch-sessions.js'
import { javaStringHash, randomUuid } from './identity.js'
import { noLeader, Partition, type Topic } from './topic.js'

const brokerDefinitions = byName(brokerConfigs)
const topicDefinitions = byName(topicConfigs)

export interface BrokerNode {
  readonly id: number
  /** As advertised; an address like 0.0.0.0 is replaced by the one that the client came by. */
  readonly host: string
  port: number
  readonly rack: string | null
  isAlive: boolean
  readonly fetchSessions: FetchSessions
}

export interface ClusterEvents {
  topicCreated: Topic
  topicDeleted: Topic
  /** Alive or not, or a coordinator was moved: groups may have another coordinator now. */
  coordinatorsChanged: undefined
  log: LogLine
}

export interface LogLine {
  /** `debug`: every connection and request; `info`: what happens to brokers, topics and groups, and what the broker refuses. */
  readonly level: 'debug' | 'info'
  readonly message: string
}

export class ClusterState {
  readonly clusterId = randomUuid()
  readonly clock: SettableClock
  readonly events = new Events<ClusterEvents>()
  readonly nodes = new Map<number, BrokerNode>()
  readonly topics = new Map<string, Topic>()
  readonly #topicsById = new Map<string, Topic>()
  readonly #staticTexts: ReadonlyMap<string, string>
  /** Dynamic broker configs: of one broker by its id, of all under ''. */
  readonly #brokerTexts = new Map<string, Map<string, string>>()
  readonly #brokerViews = new Map<string, ConfigView>()
  readonly #movedCoordinators = new Map<string, number>()
  #isLogged = false
  #nextProducerId = 0
  #nextPlacement = 0

  constructor(clock: SettableClock, staticTexts: ReadonlyMap<string, string>) {
    this.clock = clock
    this.#staticTexts = staticTexts
  }

  /** Whether anybody reads the log; what is told of every request is not even written otherwise. */
  get isLogged(): boolean {
    return this.#isLogged
  }

  logTo(onLog: (line: LogLine) => void): void {
    this.#isLogged = true
    this.events.on('log', onLog)
  }

  log(level: LogLine['level'], message: string): void {
    this.events.emit('log', { level, message })
  }

  // ---- configs

  /** The configs that all brokers have. */
  get config(): ConfigView {
    return this.brokerConfig('')
  }

  /** The configs of one broker; '' for what is set for all. */
  brokerConfig(brokerId: number | ''): ConfigView {
    const key = String(brokerId)
    let view = this.#brokerViews.get(key)
    if (!view) {
      const own = key === '' ? [] : [{ source: configSource.dynamicBroker, texts: this.brokerTexts(brokerId) }]
      view = new ConfigView(brokerDefinitions, [
        ...own,
        { source: configSource.dynamicDefaultBroker, texts: this.brokerTexts('') },
        { source: configSource.staticBroker, texts: this.#staticTexts },
      ])
      this.#brokerViews.set(key, view)
    }
    return view
  }

  /** Texts set while the broker runs; call {@link configChanged} after a change. */
  brokerTexts(brokerId: number | ''): Map<string, string> {
    const key = String(brokerId)
    let texts = this.#brokerTexts.get(key)
    if (!texts) this.#brokerTexts.set(key, (texts = new Map<string, string>()))
    return texts
  }

  configChanged(): void {
    for (const view of this.#brokerViews.values()) view.changed()
    for (const topic of this.topics.values()) {
      topic.config.changed()
      topic.settings = topicSettings(topic.config, this.config)
    }
  }

  /** The config that a topic with these texts would have. */
  topicConfig(texts: ReadonlyMap<string, string>): ConfigView {
    return new ConfigView(topicDefinitions, [{ source: configSource.dynamicTopic, texts }], this.config)
  }

  // ---- nodes

  node(id: number): BrokerNode {
    const node = this.nodes.get(id)
    if (!node) throw new UsageError(`there is no broker ${id}; there are ${[...this.nodes.keys()].join(', ')}`)
    return node
  }

  addNode(id: number, host: string, port: number, rack: string | null): BrokerNode {
    const slots = () => this.config.int('max.incremental.fetch.session.cache.slots')
    const fetchSessions = new FetchSessions(() => this.clock.now(), slots)
    const node: BrokerNode = { id, host, port, rack, isAlive: true, fetchSessions }
    this.nodes.set(id, node)
    return node
  }

  aliveNodes(): BrokerNode[] {
    return [...this.nodes.values()].filter((node) => node.isAlive)
  }

  /** Any living broker will do, as clients' requests to the controller are forwarded in KRaft. */
  get controllerId(): number {
    return this.aliveNodes()[0]?.id ?? noLeader
  }

  setAlive(id: number, isAlive: boolean): void {
    const node = this.node(id)
    node.isAlive = isAlive
    node.fetchSessions.clear()
    for (const topic of this.topics.values()) {
      for (const partition of topic.partitions) {
        if (partition.replicas[0] === id) partition.setLeader(isAlive ? id : noLeader)
      }
    }
    this.events.emit('coordinatorsChanged', undefined)
  }

  // ---- topics

  topicById(id: string): Topic | undefined {
    return this.#topicsById.get(id)
  }

  partition(topic: string, index: number): Partition | undefined {
    return this.topics.get(topic)?.partitions[index]
  }

  /** Places every partition on the next broker in turn, or where `assignment` says. The caller has validated everything. */
  createTopic(
    name: string,
    partitionCount: number,
    texts: ReadonlyMap<string, string>,
    assignment?: number[][],
  ): Topic {
    const configTexts = new Map(texts)
    const config = this.topicConfig(configTexts)
    const topic: Topic = {
      name,
      id: randomUuid(),
      isInternal: false,
      partitions: [],
      configTexts,
      config,
      settings: topicSettings(config, this.config),
    }
    this.topics.set(name, topic)
    this.#topicsById.set(topic.id, topic)
    this.addPartitions(topic, partitionCount, assignment)
    this.log('info', `topic ${name} created with ${partitionCount} partition${partitionCount === 1 ? '' : 's'}`)
    this.events.emit('topicCreated', topic)
    return topic
  }

  addPartitions(topic: Topic, count: number, assignment?: number[][]): void {
    const placeable = this.aliveNodes()
    for (let i = 0; i < count; i++) {
      const node = placeable[this.#nextPlacement++ % placeable.length]
      topic.partitions.push(new Partition(topic, topic.partitions.length, assignment?.[i] ?? (node ? [node.id] : [])))
    }
  }

  deleteTopic(topic: Topic): void {
    this.topics.delete(topic.name)
    this.#topicsById.delete(topic.id)
    for (const partition of topic.partitions) partition.setLeader(noLeader)
    this.log('info', `topic ${topic.name} deleted`)
    this.events.emit('topicDeleted', topic)
  }

  // ---- producers and groups

  nextProducerId(): number {
    return this.#nextProducerId++
  }

  /** The broker that coordinates a group: who leads its partition of the offsets topic, or where it was moved; -1 if nobody lives. */
  coordinatorOf(groupId: string): number {
    const moved = this.#movedCoordinators.get(groupId)
    if (moved !== undefined && this.nodes.get(moved)?.isAlive) return moved
    const partition = (javaStringHash(groupId) & 0x7fffffff) % this.config.int('offsets.topic.num.partitions')
    // The next living one after it: whose coordinator lives keeps it when another broker stops.
    const nodes = [...this.nodes.values()]
    const first = partition % nodes.length
    return [...nodes.slice(first), ...nodes.slice(0, first)].find((node) => node.isAlive)?.id ?? noLeader
  }

  moveCoordinator(groupId: string, brokerId: number): void {
    this.node(brokerId)
    this.#movedCoordinators.set(groupId, brokerId)
    this.events.emit('coordinatorsChanged', undefined)
  }
}
