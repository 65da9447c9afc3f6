// The brokers known at the moment, the bootstrap servers until they are, and the choice of one that can be reached.
import { ConnectionError, isKafkaError, KafkaError } from '../../errors.js'
import { formatAddress, type Address } from '../../net/address.js'
import type { Connection } from '../../net/connection.js'
import { staggered } from '../../net/staggered.js'
import { Node, type NodeContext } from './node.js'
import type { BrokerAddress } from './topic-metadata.js'

/** How long one broker may keep us waiting before the next is tried as well (T98). */
const BROKER_STAGGER_MS = 250

export interface ReachedNode {
  readonly node: Node
  readonly connection: Connection
}

export class Nodes {
  readonly #context: NodeContext
  readonly #known = new Map<number, Node>()
  #bootstrap: Node[]
  /** Left by the metadata, with requests in flight perhaps. */
  readonly #retired = new Set<Node>()
  #round: Promise<ReachedNode> | undefined
  #failedRounds = 0
  #isClosed = false

  constructor(context: NodeContext) {
    this.#context = context
    this.#bootstrap = this.#bootstrapNodes()
  }

  get(nodeId: number): Node | undefined {
    return this.#known.get(nodeId)
  }

  /** The cluster as a metadata answer lists it: addresses that changed mean new connections, brokers that left lose theirs. */
  update(brokers: ReadonlyMap<number, BrokerAddress>): void {
    for (const [nodeId, node] of this.#known) {
      if (brokers.has(nodeId)) continue
      this.#known.delete(nodeId)
      this.#retire(node)
    }
    for (const broker of brokers.values()) this.add(broker)
    for (const node of this.#bootstrap.splice(0)) this.#retire(node)
  }

  /** One broker that something else than metadata told about: a coordinator, a new leader. */
  add(broker: Omit<BrokerAddress, 'rack'>): void {
    const node = this.#known.get(broker.nodeId)
    if (node?.isAt(broker)) return
    if (node) this.#retire(node)
    const at = this.#bootstrap.findIndex((one) => one.isAt(broker))
    const [found] = at < 0 ? [] : this.#bootstrap.splice(at, 1)
    found?.identify(broker.nodeId)
    this.#known.set(broker.nodeId, found ?? new Node(this.#context, broker, broker.nodeId))
  }

  /** Begins with the bootstrap servers again; the known brokers are forgotten. */
  rebootstrap(reason: string): void {
    for (const node of this.#known.values()) this.#retire(node)
    this.#known.clear()
    if (this.#bootstrap.length === 0) this.#bootstrap = this.#bootstrapNodes()
    this.#context.config.logger.info(`beginning with the bootstrap servers again: ${reason}`)
    this.#context.events.emit('rebootstrap', { reason })
  }

  /** A connection to some broker: the least busy that is open, else the first that can be opened. */
  any(): Promise<ReachedNode> {
    if (this.#isClosed) return Promise.reject(closed())
    const open = this.#leastBusy()
    if (open) return Promise.resolve(open)
    return (this.#round ??= this.#reachAny())
  }

  #leastBusy(): ReachedNode | undefined {
    let best: ReachedNode | undefined
    for (const node of this.#known.size > 0 ? this.#known.values() : this.#bootstrap) {
      const connection = node.openConnection('default')
      if (!connection || (best && load(best.connection) <= load(connection))) continue
      best = { node, connection }
    }
    return best
  }

  async #reachAny(): Promise<ReachedNode> {
    try {
      const reached = await this.#tryAll()
      this.#failedRounds = 0
      return reached
    } finally {
      this.#round = undefined
    }
  }

  /** KIP-899: when none of the known brokers answers, the bootstrap servers are asked too. */
  async #tryAll(): Promise<ReachedNode> {
    const known = shuffled([...this.#known.values()])
    const candidates = [...known.filter((one) => one.seemsReachable), ...known.filter((one) => !one.seemsReachable)]
    if (this.#bootstrap.length === 0) this.#bootstrap = this.#bootstrapNodes()
    for (const node of shuffled(this.#bootstrap)) if (!known.some((one) => one.isAt(node))) candidates.push(node)
    try {
      const reached = await staggered(
        candidates.map((node) => async () => ({ node, connection: await node.connection('default') })),
        { clock: this.#context.config.clock, staggerMs: BROKER_STAGGER_MS },
      )
      if (known.length > 0 && reached.node.nodeId === undefined) {
        const isAllDown = known.every((one) => !one.seemsReachable)
        if (isAllDown) this.rebootstrap('none of the known brokers can be reached')
      }
      return reached
    } catch (error) {
      throw this.#unreachable(candidates, error)
    }
  }

  #unreachable(candidates: readonly Node[], error: unknown): unknown {
    if (this.#isClosed || !(error instanceof AggregateError)) return this.#isClosed ? closed() : error
    const brokers = candidates.map((one) => one.where)
    const reasons = error.errors.map((one: Error) => one.message).join('; ')
    const cause: unknown = error.errors.length === 1 ? error.errors[0] : error
    const failure = new ConnectionError(`no broker can be reached: ${reasons}`, {
      cause,
      retriable: error.errors.some((one) => isKafkaError(one) && one.retriable),
    })
    const round = ++this.#failedRounds
    if (round === 1) this.#context.config.logger.error(failure.message, { brokers })
    this.#context.events.emit('unreachable', { brokers, error: failure, round })
    return failure
  }

  #bootstrapNodes(): Node[] {
    const addresses = new Map<string, Address>()
    for (const one of this.#context.config.brokers) addresses.set(formatAddress(one), one)
    return [...addresses.values()].map((address) => new Node(this.#context, address, undefined))
  }

  #retire(node: Node): void {
    for (const old of this.#retired) if (old.isIdle) this.#retired.delete(old)
    node.retire()
    this.#retired.add(node)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#known.values(), ...this.#bootstrap, ...this.#retired].map((node) => node.close()))
  }
}

function load(connection: Connection): number {
  return connection.throttledUntil > 0 ? Infinity : connection.inFlight
}

function closed(): KafkaError {
  return new KafkaError('the client was closed', { code: 'CLOSED' })
}

function shuffled<T>(items: readonly T[]): T[] {
  const mixed = [...items]
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T]
  }
  return mixed
}
