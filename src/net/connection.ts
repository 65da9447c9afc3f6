// One socket to one broker: handshake, correlation, the in-flight window, deadlines, throttling.
// It knows nothing of clusters and never reconnects; its owner opens another one.
import { KafkaError } from '../errors.js'
import type { AnyApi, RequestInput, ResponseOf } from '../protocol/wire/index.js'
import type { Clock } from '../util/clock.js'
import type { Deadline } from '../util/deadline.js'

export interface ConnectionOptions {
  readonly host: string
  readonly port: number
  readonly clientId: string | null
  readonly clock: Clock
  /** How long a request that names no timeout of its own may go unanswered. */
  readonly requestTimeoutMs: number
  /** For everything until the connection is usable: name lookup, TCP, ApiVersions, authentication. */
  readonly connectTimeoutMs: number
  readonly maxFrameBytes?: number | undefined
  /** Ends an opening; an open connection ends by close(). */
  readonly signal?: AbortSignal | undefined
  /** Who should answer at this address (KIP-1242); a broker that is somebody else says so. */
  readonly expected?: { readonly clusterId: string | null; readonly nodeId: number } | undefined
  /** The stage between ApiVersions and first use. It sends its requests on the connection it is given. */
  readonly authenticate?: ((connection: Connection, signal: AbortSignal) => Promise<void>) | undefined
  /** Called once, after what was pending has failed; `error` is undefined when close() was called here. */
  readonly onClose?: ((connection: Connection, error: KafkaError | undefined) => void) | undefined
  readonly onThrottle?: ((connection: Connection, throttleTimeMs: number, api: AnyApi) => void) | undefined
}

export interface SendOptions {
  /**
   * How long the answer may take, from the moment the request is written; after it the connection is closed, since nothing
   * can be expected of it any more. Time in which the broker throttles us does not count. @default requestTimeoutMs
   */
  readonly timeoutMs?: number | undefined
  /**
   * Gives up this request alone: the promise rejects, the connection lives on and drops the answer when it comes. The
   * request's bytes may then still be on their way: do not give a signal or deadline when they are in a buffer that is reused.
   */
  readonly signal?: AbortSignal | undefined
  readonly deadline?: Deadline | undefined
  /** This version and no other. */
  readonly version?: number | undefined
  /** The highest version to use, where the broker has higher ones. */
  readonly maxVersion?: number | undefined
}

/** A request, or what builds it once the version is known. */
export type RequestFor<A extends AnyApi> = RequestInput<A> | ((version: number) => RequestInput<A>)

export class Connection {
  static open(_options: ConnectionOptions): Promise<Connection> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  readonly host: string = ''
  readonly port: number = 0

  get isOpen(): boolean {
    return false
  }

  /** Requests written and not answered. */
  get inFlight(): number {
    return 0
  }

  /** Monotonic time until which the broker wants no request of us. */
  get throttledUntil(): number {
    return 0
  }

  /** Finalized features of the cluster, with their levels. */
  get features(): ReadonlyMap<string, { readonly min: number; readonly max: number }> {
    return new Map()
  }

  /** The version in which requests of this API go to this broker. Throws UNSUPPORTED_VERSION when there is none. */
  versionOf(_api: AnyApi, _maxVersion?: number): number {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  supports(_api: AnyApi): boolean {
    return false
  }

  send<A extends AnyApi>(_api: A, _request: RequestFor<A>, _options?: SendOptions): Promise<ResponseOf<A>> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** For requests that get no answer (Produce with acks 0): done when handed to the system. */
  sendOneWay<A extends AnyApi>(_api: A, _request: RequestFor<A>, _options?: SendOptions): Promise<void> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** Closes as soon as nothing is in flight. */
  drain(): void {}

  /** Fails what is pending with CLOSED. Done when the socket is gone. */
  close(): Promise<void> {
    return Promise.resolve()
  }
}
