// The options that every client has, checked once. An owner adds its own: resolveOptions('Producer', given, { ...clientOptions, … }).
import { UsageError } from '../../errors.js'
import { parseAddress, type Address } from '../../net/address.js'
import { systemClock, type Clock } from '../../util/clock.js'
import {
  arrayOf,
  boolean,
  integer,
  nonEmptyString,
  option,
  required,
  type Check,
  type Option,
  type Resolved,
} from '../../util/options.js'
import { consoleLogger, loggerCheck, type Logger, type LogLevel } from './logger.js'

/** Options of every client. */
export interface ClientOptions {
  /** Where to begin: `host:port` of one or more brokers, tried in random order. The rest of the cluster is found from there. */
  readonly brokers: readonly string[]
  /** Names this client in the brokers' logs and quotas. @default 'ottla' */
  readonly clientId?: string | undefined
  /** Milliseconds a broker may take to answer a request. @default 30000 */
  readonly requestTimeoutMs?: number | undefined
  /** Milliseconds until a connection must be usable. @default 10000 */
  readonly connectTimeoutMs?: number | undefined
  /** A connection that was not used for so many milliseconds is opened anew. @default 540000 */
  readonly connectionMaxIdleMs?: number | undefined
  /** Milliseconds before the first retry of a failed request; doubles up to retryBackoffMaxMs. @default 100 */
  readonly retryBackoffMs?: number | undefined
  /** @default 1000 */
  readonly retryBackoffMaxMs?: number | undefined
  /** Milliseconds before a broker that could not be reached is tried again; doubles up to reconnectBackoffMaxMs. @default 50 */
  readonly reconnectBackoffMs?: number | undefined
  /** @default 1000 */
  readonly reconnectBackoffMaxMs?: number | undefined
  /** Milliseconds after which the picture of the cluster is renewed even if nothing has failed. @default 300000 */
  readonly metadataMaxAgeMs?: number | undefined
  /** Whether asking for a topic that does not exist may create it, where the brokers allow that. @default true */
  readonly allowAutoTopicCreation?: boolean | undefined
  /** The largest answer that is accepted, in bytes. @default 104857600 */
  readonly maxResponseBytes?: number | undefined
  /** A logger, or from which level on the console is used. @default 'warn' */
  readonly logger?: Logger | LogLevel | undefined
  /** Not supported yet: giving it is refused with NOT_SUPPORTED. */
  readonly tls?: undefined
  /** Not supported yet: giving it is refused with NOT_SUPPORTED. */
  readonly sasl?: undefined
  /** @internal The source of time, for tests. */
  readonly clock?: Clock | undefined
}

const address: Check<Address> = (value, fail) =>
  (typeof value === 'string' ? parseAddress(value) : undefined) ?? fail('host:port (an IPv6 address in brackets)')

const clock: Check<Clock> = (value, fail) =>
  typeof value === 'object' && value !== null && 'setTimer' in value ? (value as Clock) : fail('a Clock')

function later(name: string): Option<undefined> {
  return option<undefined>(() => {
    throw new UsageError(`${name} is not supported yet; leave it out and use a plaintext listener`, 'NOT_SUPPORTED')
  }, undefined)
}

const dayMs = 86_400_000

export const clientOptions = {
  brokers: required(arrayOf(address, { min: 1 })),
  clientId: option(nonEmptyString, 'ottla'),
  requestTimeoutMs: option(integer(1, dayMs), 30_000),
  connectTimeoutMs: option(integer(1, dayMs), 10_000),
  connectionMaxIdleMs: option(integer(1, 7 * dayMs), 540_000),
  retryBackoffMs: option(integer(0, dayMs), 100),
  retryBackoffMaxMs: option(integer(0, dayMs), 1000),
  reconnectBackoffMs: option(integer(0, dayMs), 50),
  reconnectBackoffMaxMs: option(integer(0, dayMs), 1000),
  metadataMaxAgeMs: option(integer(1, 7 * dayMs), 300_000),
  allowAutoTopicCreation: option(boolean, true),
  maxResponseBytes: option(integer(1024, 2 ** 31 - 1), 104_857_600),
  logger: option(loggerCheck, () => consoleLogger('warn')),
  tls: later('tls'),
  sasl: later('sasl'),
  clock: option(clock, () => systemClock),
}

/** {@link ClientOptions}, checked and complete; `brokers` are parsed addresses. */
export type ClientConfig = Resolved<typeof clientOptions>
