// What a request to the cluster can be given.
import type { SendOptions } from '../../net/send-options.js'
import type { AnyApi, ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline } from '../../util/deadline.js'

export interface ClusterSendOptions extends SendOptions {
  /**
   * Requests of one channel share a socket per broker, and Kafka answers one request of a socket at a time: what may be
   * parked by the broker (fetches, joins) goes on a channel of its own. @default 'default'
   */
  readonly channel?: string | undefined
}

export interface RoutedOptions<A extends AnyApi> {
  readonly deadline: Deadline
  readonly channel?: string | undefined
  /** For one attempt. @default requestTimeoutMs */
  readonly timeoutMs?: number | undefined
  readonly maxVersion?: number | undefined
  /** For errors and events. @default the API's name */
  readonly what?: string | undefined
  /**
   * The code that decides whether the answer counts or the request is tried again: only retriable ones are, every other
   * answer is returned as it came. @default the answer's own errorCode
   */
  readonly errorCodeOf?: ((response: ResponseOf<A>) => number) | undefined
}

export interface TopicsOptions {
  /** 'wait': until they exist, up to the deadline. 'report': one fresh answer, with the errors inside. @default 'wait' */
  readonly missing?: 'wait' | 'report' | undefined
}
