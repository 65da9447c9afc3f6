// startBroker(): checks the options, starts the brokers of one cluster in this process and gives the handle to them.
import { UsageError } from '../errors.js'
import {
  arrayOf,
  boolean,
  functionOf,
  integer,
  nonEmptyString,
  option,
  optional,
  resolveOptions,
  shown,
  type Check,
} from '../util/options.js'
import { SettableClock } from '../util/settable-clock.js'
import { BrokerCluster, type BrokerSpec } from './broker-cluster.js'
import type { LogLine } from './cluster-state.js'
import { brokerConfigs } from './config/broker-configs.js'
import { InvalidConfig, parseConfig } from './config/definition.js'

export interface StartBrokerOptions {
  /** How many brokers the cluster has, or one entry for each; their ids are 1, 2, … @default 1 */
  readonly brokers?: number | readonly BrokerSpec[] | undefined
  /** Topics to create, with their partition counts: `{ orders: 6 }`. @default none */
  readonly topics?: Readonly<Record<string, number>> | undefined
  /** The config auto.create.topics.enable: whether asking for a topic creates it. @default true */
  readonly autoCreateTopics?: boolean | undefined
  /**
   * Where to listen, and what clients are told. `localhost` is IPv4 and IPv6; an address like 0.0.0.0 is advertised as the one
   * that the client came by. @default '127.0.0.1'
   */
  readonly host?: string | undefined
  /** The port of the first broker, the next one has the next; 0 takes free ones. @default 0 */
  readonly port?: number | undefined
  /** Broker configs by Kafka's names: `{ 'num.partitions': 6 }`. @default Kafka's own defaults, group.initial.rebalance.delay.ms 0 */
  readonly config?: Readonly<Record<string, string | number | boolean>> | undefined
  /**
   * Called with what happens in the brokers, one line at a time, for a person to read; lines of level `debug` tell of every
   * connection and request. @default nothing is logged
   */
  readonly onLog?: ((line: LogLine) => void) | undefined
}

const mostBrokers = 100

const brokerSpecs: Check<readonly BrokerSpec[]> = (value, fail) => {
  const allowed = `a number of 1-${mostBrokers} or an array of { rack? }`
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || value < 1 || value > mostBrokers) return fail(allowed)
    return Array.from({ length: value }, () => ({}))
  }
  return arrayOf<BrokerSpec>(
    (item, failItem) => {
      const isSpec = typeof item === 'object' && item !== null && Object.keys(item).every((key) => key === 'rack')
      const rack = isSpec ? (item as BrokerSpec).rack : undefined
      if (!isSpec || (rack !== undefined && typeof rack !== 'string')) return failItem('{ rack?: string }')
      return item
    },
    { min: 1 },
  )(value, () => fail(allowed))
}

const topicCounts: Check<ReadonlyMap<string, number>> = (value, fail) => {
  const allowed = 'an object of partition counts by topic'
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail(allowed)
  const entries = Object.entries(value)
  if (entries.some(([, count]) => !Number.isInteger(count) || count < 1)) return fail(allowed)
  return new Map(entries as [string, number][])
}

const configTexts: Check<ReadonlyMap<string, string>> = (value, fail) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('an object of broker configs')
  const texts = new Map<string, string>()
  for (const [name, given] of Object.entries(value)) {
    const definition = brokerConfigs.find((known) => known.name === name)
    if (!definition) throw new UsageError(`startBroker: unknown broker config ${name}`, 'INVALID_OPTION')
    if (!['string', 'number', 'boolean'].includes(typeof given)) {
      throw new UsageError(
        `startBroker: config ${name} must be a text, number or boolean, got ${shown(given)}`,
        'INVALID_OPTION',
      )
    }
    try {
      parseConfig(definition, String(given))
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error
      throw new UsageError(`startBroker: ${error.message}`, 'INVALID_OPTION', error)
    }
    texts.set(name, String(given))
  }
  return texts
}

const specs = {
  brokers: option(brokerSpecs, () => [{}]),
  topics: option(topicCounts, () => new Map()),
  autoCreateTopics: option<boolean | undefined>(boolean, undefined),
  host: option(nonEmptyString, '127.0.0.1'),
  port: option(integer(0, 65535), 0),
  config: option(configTexts, () => new Map()),
  onLog: optional(functionOf<(line: LogLine) => void>('(line) => void')),
}

/**
 * Starts a Kafka broker (or several) in this process, in memory.
 * @throws {UsageError} INVALID_OPTION
 * @throws {ConnectionError} when the port is taken
 * @example
 * await using kafka = await startBroker({ brokers: 3, topics: { orders: 6 } })
 * const producer = new Producer({ brokers: kafka.brokers })
 */
export async function startBroker(options: StartBrokerOptions = {}): Promise<BrokerCluster> {
  const { brokers, topics, autoCreateTopics, host, port, config, onLog } = resolveOptions('startBroker', options, specs)
  const lastPort = 65536 - brokers.length
  if (port > lastPort) {
    const message = `startBroker: port must be 0-${lastPort} for ${brokers.length} brokers, got ${port}`
    throw new UsageError(message, 'INVALID_OPTION')
  }
  const texts = new Map(config)
  if (autoCreateTopics !== undefined) texts.set('auto.create.topics.enable', String(autoCreateTopics))
  const cluster = new BrokerCluster({ brokers, host, port, texts, clock: new SettableClock() })
  if (onLog) cluster.state.logTo(onLog)
  await cluster.open(topics)
  return cluster
}
