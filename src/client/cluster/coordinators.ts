// Who coordinates which group, transactional id or share group: looked up once, kept until somebody says it is over.
import { errorCodes, toKafkaError } from '../../protocol/messages/error-table.js'
import { FindCoordinator } from '../../protocol/messages/find-coordinator.js'
import type { Connection } from '../../net/connection.js'
import type { BrokerAddress } from './topic-metadata.js'

/** Whose coordinator is meant. A plain string is a group. */
export type CoordinatorKey = string | { readonly transactionalId: string } | { readonly shareGroup: string }

const kinds = ['group', 'transactional id', 'share group'] as const

/** The answer for one key. */
type Found = Omit<BrokerAddress, 'rack'> & { readonly errorCode: number; readonly errorMessage: string | null }

interface Lookup {
  readonly names: Set<string>
  readonly answers: Promise<ReadonlyMap<string, Found>>
}

const FIRST_BATCHED_VERSION = 4

export class Coordinators {
  readonly #anyConnection: () => Promise<Connection>
  readonly #onFound: (broker: Omit<BrokerAddress, 'rack'>) => void
  readonly #known = new Map<string, number>()
  /** By kind: what the next request asks for. Keys that are asked for in one turn of the event loop share a request (KIP-699). */
  readonly #next = new Map<number, Lookup>()

  constructor(
    anyConnection: () => Promise<Connection>,
    /** Told of the address before the node id is given out. */
    onFound: (broker: Omit<BrokerAddress, 'rack'>) => void,
  ) {
    this.#anyConnection = anyConnection
    this.#onFound = onFound
  }

  cached(key: CoordinatorKey): number | undefined {
    return this.#known.get(cacheKey(key))
  }

  forget(key: CoordinatorKey): void {
    this.#known.delete(cacheKey(key))
  }

  /** All that this broker was thought to coordinate. */
  forgetNode(nodeId: number): void {
    for (const [key, known] of this.#known) if (known === nodeId) this.#known.delete(key)
  }

  /** One attempt. */
  async find(key: CoordinatorKey): Promise<number> {
    const [kind, name] = parts(key)
    let lookup = this.#next.get(kind)
    if (!lookup) {
      const names = new Set<string>()
      lookup = { names, answers: this.#look(kind, names) }
      this.#next.set(kind, lookup)
    }
    lookup.names.add(name)
    const found = (await lookup.answers).get(name)
    if (!found || found.errorCode !== 0) {
      const errorCode = found?.errorCode ?? errorCodes.COORDINATOR_NOT_AVAILABLE
      throw toKafkaError(errorCode, {
        what: `FindCoordinator of ${describeKey(key)}`,
        brokerMessage: found?.errorMessage,
      })
    }
    this.#onFound(found)
    this.#known.set(cacheKey(key), found.nodeId)
    return found.nodeId
  }

  async #look(keyType: number, names: ReadonlySet<string>): Promise<ReadonlyMap<string, Found>> {
    try {
      await Promise.resolve()
    } finally {
      this.#next.delete(keyType)
    }
    const connection = await this.#anyConnection()
    if (connection.versionOf(FindCoordinator) >= FIRST_BATCHED_VERSION) {
      const { coordinators } = await connection.send(FindCoordinator, { keyType, coordinatorKeys: [...names] })
      return new Map(coordinators.map((one) => [one.key, one]))
    }
    const answers = await Promise.all([...names].map((key) => connection.send(FindCoordinator, { key, keyType })))
    return new Map([...names].map((name, i) => [name, answers[i] as Found]))
  }
}

export function describeKey(key: CoordinatorKey): string {
  const [kind, name] = parts(key)
  return `${kinds[kind]} ${name}`
}

function cacheKey(key: CoordinatorKey): string {
  const [kind, name] = parts(key)
  return `${kind} ${name}`
}

function parts(key: CoordinatorKey): readonly [kind: 0 | 1 | 2, name: string] {
  if (typeof key === 'string') return [0, key]
  return 'transactionalId' in key ? [1, key.transactionalId] : [2, key.shareGroup]
}
