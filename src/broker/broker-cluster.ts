// The handle that startBroker() gives: the brokers of one cluster, their listeners, and what a test does to them.
import { UsageError } from '../errors.js'
import type { SettableClock } from '../util/settable-clock.js'
import { ClusterState, type BrokerNode } from './cluster-state.js'
import { Dispatcher } from './dispatch.js'
import { Faults } from './faults/fault.js'
import type { GroupSnapshot } from './groups/group-snapshot.js'
import { groupService, type GroupService } from './groups/group-service.js'
import { allHandlers } from './handlers/index.js'
import { TopicInspection } from './inspection.js'
import { Listener } from './listener.js'
import { RequestLog, type RequestEntry } from './request-log.js'
import { planTopic, Refused } from './topic-creation.js'

/** What is said of one broker when the cluster is started. */
export interface BrokerSpec {
  /** Told to clients, for assignors that look at racks (KIP-881). @default no rack */
  readonly rack?: string | undefined
}

interface BrokerClusterOptions {
  readonly brokers: readonly BrokerSpec[]
  readonly host: string
  readonly port: number
  readonly texts: ReadonlyMap<string, string>
  readonly clock: SettableClock
}

/** One broker of the cluster. */
export interface BrokerHandle {
  readonly id: number
  /** `host:port`, the same after a restart. */
  readonly address: string
  readonly isRunning: boolean
  /** Ends in order: connections are ended, its partitions have no leader until it is back or they are moved. */
  stop(): Promise<void>
  /** The same as a crash: connections are reset. What was written stays. */
  kill(): Promise<void>
  /**
   * Listens again at the same address, and leads its partitions again, in new epochs.
   * @throws {ConnectionError} when the port was taken meanwhile
   */
  start(): Promise<void>
}

/** The running brokers: what clients connect to, and what a test looks at and does to them. */
export class BrokerCluster {
  /** Settable time: `clock.advance(60_000)`. */
  readonly clock: SettableClock
  /** Faults on the wire, by request. */
  readonly faults = new Faults()
  readonly #requests = new RequestLog()
  readonly #options: BrokerClusterOptions
  readonly #state: ClusterState
  readonly #listeners = new Map<number, Listener>()
  /** Brokers that are about to listen, by id. */
  readonly #starting = new Map<number, Promise<void>>()
  readonly #groups: GroupService
  readonly #dispatcher: Dispatcher
  #closed: Promise<void> | undefined

  /** @internal */
  constructor(options: BrokerClusterOptions) {
    this.#options = options
    this.clock = options.clock
    this.#state = new ClusterState(options.clock, options.texts)
    this.#groups = groupService(this.#state)
    this.#dispatcher = new Dispatcher(this.#state, this.faults, this.#requests, allHandlers([this.#groups]))
  }

  /** @internal */
  async open(topics: ReadonlyMap<string, number>): Promise<void> {
    const { brokers, host, port } = this.#options
    for (const [i, { rack = null }] of brokers.entries()) {
      this.#state.addNode(i + 1, host, port === 0 ? 0 : port + i, rack)
    }
    try {
      for (const [name, numPartitions] of topics) {
        const { partitions, texts } = planTopic(this.#state, {
          name,
          numPartitions,
          replicationFactor: -1,
          assignments: [],
          configs: [],
        })
        this.#state.createTopic(name, partitions, texts)
      }
      // All of them, so that none listens after the others were closed again.
      const listening = await Promise.allSettled([...this.#state.nodes.values()].map((node) => this.#listen(node)))
      for (const result of listening) if (result.status === 'rejected') throw result.reason
    } catch (error) {
      await this.close()
      if (error instanceof Refused)
        throw new UsageError(`startBroker: topics: ${error.message}`, 'INVALID_OPTION', error)
      throw error
    }
  }

  async #listen(node: BrokerNode): Promise<void> {
    const config = this.#state.brokerConfig(node.id)
    const listener = new Listener({
      host: node.host,
      clock: this.clock,
      maxFrameBytes: config.int('socket.request.max.bytes'),
      maxIdleMs: config.int('connections.max.idle.ms'),
      serve: (frame, connection) => this.#dispatcher.serve(frame, node, connection),
      onConnection: ({ id, remote }) => {
        this.#state.log('debug', `broker ${node.id}: connection ${id} from ${remote}`)
      },
      onConnectionClosed: ({ id, remote }, reason) => {
        if (reason === undefined) this.#state.log('debug', `broker ${node.id}: connection ${id} closed by the client`)
        else this.#state.log('info', `broker ${node.id} closed the connection from ${remote}: ${reason}`)
      },
    })
    this.#listeners.set(node.id, listener)
    node.port = await listener.open(node.port)
    this.#state.log('info', `broker ${node.id} listens on ${addressText(node)}`)
  }

  /** Where to connect to, as `host:port`. */
  get brokers(): string[] {
    return [...this.#state.nodes.values()].map(addressText)
  }

  /** The last requests received by any broker, the oldest first. */
  get requests(): readonly RequestEntry[] {
    return this.#requests.entries()
  }

  /** The topics there are, in the order of their creation. */
  topicNames(): string[] {
    return [...this.#state.topics.keys()]
  }

  /** What is in a topic. @throws {UsageError} when there is no such topic */
  topic(name: string): TopicInspection {
    const topic = this.#state.topics.get(name)
    if (!topic)
      throw new UsageError(
        `there is no topic ${name}; there are ${[...this.#state.topics.keys()].join(', ') || 'none'}`,
      )
    return new TopicInspection(topic)
  }

  /** One broker, by its id: 1, 2, … @throws {UsageError} when there is no such broker */
  broker(id: number): BrokerHandle {
    const node = this.#state.node(id)
    const isRunning = () => node.isAlive && this.#closed === undefined
    return {
      id,
      get address() {
        return addressText(node)
      },
      get isRunning() {
        return isRunning()
      },
      stop: () => this.#stop(node, false),
      kill: () => this.#stop(node, true),
      start: () => this.#start(node),
    }
  }

  async #stop(node: BrokerNode, isCrash: boolean): Promise<void> {
    const starting = this.#starting.get(node.id)
    if (starting) await Promise.allSettled([starting])
    if (!node.isAlive) return
    this.#state.setAlive(node.id, false)
    this.#state.log('info', `broker ${node.id} ${isCrash ? 'killed' : 'stopped'}`)
    await this.#listeners.get(node.id)?.close(isCrash ? 'the broker was killed' : 'the broker was stopped', isCrash)
  }

  async #start(node: BrokerNode): Promise<void> {
    if (node.isAlive) return
    if (this.#closed) throw new UsageError('the cluster is closed', 'CLOSED')
    let starting = this.#starting.get(node.id)
    if (!starting) {
      starting = this.#listen(node)
        .then(() => this.#state.setAlive(node.id, true))
        .finally(() => this.#starting.delete(node.id))
      this.#starting.set(node.id, starting)
    }
    await starting
  }

  /** The cluster's state, for the parts of the broker and its command. @internal */
  get state(): ClusterState {
    return this.#state
  }

  /** Makes a partition's leader another broker, in a new epoch; the data stay. @throws {UsageError} when that one does not run */
  async moveLeader(topic: string, partition: number, brokerId: number): Promise<void> {
    const found = this.#state.partition(topic, partition)
    if (!found) throw new UsageError(`there is no partition ${topic}-${partition}`)
    const id = this.#running(brokerId)
    found.replicas = [id]
    found.setLeader(id)
  }

  #running(brokerId: number): number {
    const { id, isAlive } = this.#state.node(brokerId)
    if (!isAlive) throw new UsageError(`broker ${id} does not run`)
    return id
  }

  /** The groups of the cluster, with their members and committed offsets. */
  groups(): GroupSnapshot[] {
    return this.#groups.snapshot()
  }

  /** Makes a group's coordinator another broker; members and offsets go with it. @throws {UsageError} when that one does not run */
  async moveCoordinator(group: string, brokerId: number): Promise<void> {
    this.#state.moveCoordinator(group, this.#running(brokerId))
  }

  /** Ends every socket, wait and timer. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    if (this.#starting.size > 0) await Promise.allSettled(this.#starting.values())
    this.#groups.close()
    await Promise.all([...this.#listeners.values()].map((listener) => listener.close('the broker was closed', false)))
    this.#state.events.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function addressText({ host, port }: BrokerNode): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
