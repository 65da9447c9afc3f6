// A client's view of the cluster and its way to it: one per Producer, Consumer, GroupMember or Admin.
// It routes and retries; it knows nothing of records, positions or groups' state.
import { KafkaError } from '../../errors.js'
import type { RequestFor, SendOptions } from '../../net/connection.js'
import type { AnyApi, ResponseOf } from '../../protocol/wire/index.js'
import type { Clock } from '../../util/clock.js'
import { Deadline } from '../../util/deadline.js'
import { Events } from '../../util/events.js'
import type { ClusterEvents } from './events.js'
import type { Logger } from './logger.js'
import type { ClientConfig } from './options.js'
import type { BrokerAddress, LeaderHint, TopicMetadata } from './topic-metadata.js'

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

/** Whose coordinator is meant. A plain string is a group. */
export type CoordinatorKey = string | { readonly transactionalId: string } | { readonly shareGroup: string }

export interface TopicsOptions {
  /** 'wait': until they exist, up to the deadline. 'report': one fresh answer, with the errors inside. @default 'wait' */
  readonly missing?: 'wait' | 'report' | undefined
}

export class Cluster {
  readonly config: ClientConfig
  readonly clock: Clock
  readonly logger: Logger
  readonly events = new Events<ClusterEvents>()

  /** `owner` is how errors call the client: 'Producer'. */
  constructor(config: ClientConfig, owner: string) {
    this.config = config
    this.clock = config.clock
    this.logger = config.logger
    throw new KafkaError(`${owner}: not built yet`, { code: 'NOT_SUPPORTED' })
  }

  get isClosed(): boolean {
    return false
  }

  /** A deadline by this cluster's clock; without a time it ends only by its signal (or close()). */
  deadline(timeoutMs: number = Infinity, signal?: AbortSignal): Deadline {
    return new Deadline(this.clock, timeoutMs, signal)
  }

  /** Reaches the cluster and learns its brokers. Safe to call twice and at once. */
  connect(_deadline: Deadline): Promise<void> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** Ends everything; what is pending fails with CLOSED. Idempotent. */
  close(): Promise<void> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  // ---- metadata

  /**
   * These topics, from the cache when they are known well, else asked for; they stay in the set that is kept fresh until
   * forget(). With 'wait' (the default) a topic that does not exist yet is asked for again until the deadline (then TIMEOUT
   * with the topic's error as its cause, and the topic is forgotten); final errors are inside, per topic.
   */
  topics(
    _names: readonly string[],
    _deadline: Deadline,
    _options?: TopicsOptions,
  ): Promise<ReadonlyMap<string, TopicMetadata>> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** One topic; throws its error. */
  topic(_name: string, _deadline: Deadline): Promise<TopicMetadata> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** For hot paths: what is known, or undefined. It may have an error, or partitions without leader. */
  cachedTopic(_name: string): TopicMetadata | undefined {
    return undefined
  }

  /** The name of a topic id that is in the cache. */
  topicName(_topicId: string): string | undefined {
    return undefined
  }

  get brokers(): ReadonlyMap<number, BrokerAddress> {
    return new Map()
  }

  get clusterId(): string | null {
    return null
  }

  /** Has the metadata renewed in the background, soon; many calls make one request. */
  refresh(_reason: string): void {}

  /** The metadata of all topics in use, asked for after this call. */
  refreshed(_deadline: Deadline): Promise<void> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** Keeps this topic fresh no longer. */
  forget(_topic: string): void {}

  /** Called after every change of the metadata, leader hints included. Returns what ends it. */
  onMetadata(_listener: () => void): () => void {
    return () => {}
  }

  /** What a broker told about a new leader (KIP-951); true when it is news. */
  updateLeader(_topic: string, _partition: number, _hint: LeaderHint): boolean {
    return false
  }

  // ---- requests

  /** One attempt on a connection to this broker, opened if need be. Nothing in the answer is interpreted. */
  send<A extends AnyApi>(
    _nodeId: number,
    _api: A,
    _request: RequestFor<A>,
    _options?: ClusterSendOptions,
  ): Promise<ResponseOf<A>> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** One attempt without an answer (acks 0): done when the bytes are handed to the system. */
  sendOneWay<A extends AnyApi>(
    _nodeId: number,
    _api: A,
    _request: RequestFor<A>,
    _options?: ClusterSendOptions,
  ): Promise<void> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** The version in which this API goes to the broker, when a connection of the channel is open. */
  versionOf(_nodeId: number, _api: AnyApi, _channel?: string): number | undefined {
    return undefined
  }

  /** To whichever broker can be reached, with retries. */
  sendToAny<A extends AnyApi>(_api: A, _request: RequestFor<A>, _options: RoutedOptions<A>): Promise<ResponseOf<A>> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** To the controller (in KRaft clusters: any broker), with retries; NOT_CONTROLLER finds the new one. */
  sendToController<A extends AnyApi>(
    _api: A,
    _request: RequestFor<A>,
    _options: RoutedOptions<A>,
  ): Promise<ResponseOf<A>> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** To the coordinator of a group, found if need be, with retries; NOT_COORDINATOR and a lost connection find the new one. Channel 'coordinator' unless named. */
  sendToCoordinator<A extends AnyApi>(
    _key: CoordinatorKey,
    _api: A,
    _request: RequestFor<A>,
    _options: RoutedOptions<A>,
  ): Promise<ResponseOf<A>> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  /** The node id of the coordinator, from the cache or looked up with retries. */
  coordinator(_key: CoordinatorKey, _deadline: Deadline): Promise<number> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }

  forgetCoordinator(_key: CoordinatorKey, _reason: string): void {}

  /**
   * The one retry layer. The attempt is repeated, with backoff and a 'retry' event, while it throws errors that are retriable (or ask
   * for a rebootstrap) until the deadline; the reaction of the error table (refresh metadata, rebootstrap) is done in between. It is given
   * a deadline that also ends when the cluster is closed: hand that one down. At the end: TIMEOUT with the last error as its cause.
   */
  retry<T>(
    _what: string,
    _deadline: Deadline,
    _attempt: (deadline: Deadline, attempt: number) => Promise<T>,
  ): Promise<T> {
    throw new KafkaError('not built yet', { code: 'NOT_SUPPORTED' })
  }
}
