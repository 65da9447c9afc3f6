// What a handler of one API is given and what it may answer. Handlers are thin: the state they work on is ClusterState, and what
// belongs to a service (the group coordinator) comes with that service's own handlers.
import type { AnyApi, RequestOf, ResponseInput } from '../../protocol/wire/index.js'
import type { Clock } from '../../util/clock.js'
import type { ErrorFor } from '../fetch/partition-read.js'
import type { BrokerNode, ClusterState } from '../cluster-state.js'

export interface ConnectionInfo {
  readonly id: number
  /** The client's address without a port, as DescribeGroups shows it after a slash. */
  readonly clientHost: string
  /** The address the client reached this broker by; advertised when the broker listens on all addresses. */
  readonly localHost: string
  /** Aborted when the connection is gone. Listeners must be removed when a wait ends. */
  readonly signal: AbortSignal
  /** Ends the connection after this request, without an answer to it; `reason` is for the log. */
  hangUp(reason: string): void
}

export interface RequestContext {
  /** The broker that was asked. */
  readonly broker: BrokerNode
  readonly cluster: ClusterState
  readonly clock: Clock
  readonly version: number
  readonly clientId: string | null
  readonly connection: ConnectionInfo
  /** Errors that faults put into single partitions of a fetch. */
  readonly errorFor: ErrorFor | undefined
}

/** What a handler returns; null is no answer at all (Produce with acks=0). */
export type Answer<A extends AnyApi> = ResponseInput<A> | null

export interface Handler {
  readonly api: AnyApi
  readonly handle: (request: never, context: RequestContext) => unknown
}

/** Several of one part of the broker, with the end of its timers. One service serves all brokers of a cluster. */
export interface Service {
  readonly handlers: readonly Handler[]
  close(): void
}

export function handler<A extends AnyApi>(
  api: A,
  handle: (request: RequestOf<A>, context: RequestContext) => Answer<A> | Promise<Answer<A>>,
): Handler {
  return { api, handle: handle }
}
