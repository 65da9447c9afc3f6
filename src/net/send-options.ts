// What a request on a connection can be given.
import type { AnyApi, RequestInput, ResponseOf } from '../protocol/wire/index.js'
import type { Deadline } from '../util/deadline.js'

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

/** What a stage of the handshake needs of a connection. */
export interface RequestSender {
  /** host:port. */
  readonly where: string
  send<A extends AnyApi>(api: A, request: RequestFor<A>, options?: SendOptions): Promise<ResponseOf<A>>
}
