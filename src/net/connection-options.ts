// What a connection is opened with, and what its owner is told.
import type { KafkaError } from '../errors.js'
import type { AnyApi } from '../protocol/wire/index.js'
import type { Clock } from '../util/clock.js'
import type { Resolve } from './dial.js'
import type { RequestSender } from './send-options.js'

export interface ConnectionOptions {
  readonly host: string
  readonly port: number
  readonly clientId: string | null
  readonly clock: Clock
  /** How long a request that names no timeout of its own may go unanswered. */
  readonly requestTimeoutMs: number
  /** For everything until the connection is usable: name lookup, TCP, ApiVersions, authentication. */
  readonly connectTimeoutMs: number
  /** @default 104857600 */
  readonly maxFrameBytes?: number | undefined
  /** Ends an opening; an open connection ends by close(). */
  readonly signal?: AbortSignal | undefined
  /** Who should answer at this address (KIP-1242); a broker that is somebody else answers REBOOTSTRAP_REQUIRED. */
  readonly expected?: { readonly clusterId: string | null; readonly nodeId: number } | undefined
  /** The stage between ApiVersions and first use. It sends its requests on the connection it is given. */
  readonly authenticate?: ((connection: RequestSender, signal: AbortSignal) => Promise<void>) | undefined
  /** Called once for a connection that was open, after what was pending has failed. */
  readonly onClose?: ((closed: ClosedConnection) => void) | undefined
  readonly onThrottle?: ((throttleTimeMs: number, api: AnyApi) => void) | undefined
  /** Finds addresses instead of the system's resolver. */
  readonly resolve?: Resolve | undefined
  /** Where the counting of requests begins. @default 0 */
  readonly firstCorrelationId?: number | undefined
}

export interface ClosedConnection {
  /** undefined when close() or drain() was called here. */
  readonly error: KafkaError | undefined
  /** Requests that failed by it. */
  readonly lostRequests: number
}
