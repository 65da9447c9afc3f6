// A broker with records in it, and the reading of them, for the tests of Consumer.
import { startBroker, type StartBrokerOptions } from '../../../src/broker/start-broker.js'
import type { BrokerCluster } from '../../../src/broker/broker-cluster.js'
import { Cluster, clientOptions } from '../../../src/client/cluster/index.js'
import { Consumer, type AnyRecord, type ConsumerOptions } from '../../../src/client/consumer/index.js'
import { Producer } from '../../../src/client/producer/index.js'
import type { TopicLike } from '../../../src/client/serde/index.js'
import type { AnyApi, RequestInput, ResponseOf } from '../../../src/protocol/wire/index.js'
import { resolveOptions } from '../../../src/util/options.js'

export const fast = { retryBackoffMs: 5, retryBackoffMaxMs: 20, maxWaitMs: 50, logger: 'silent' } as const

export function brokerWith(topics: Record<string, number>, options: StartBrokerOptions = {}): Promise<BrokerCluster> {
  return startBroker({ topics, ...options })
}

export function reader<const T extends TopicLike = 'orders'>(
  kafka: BrokerCluster,
  options: Partial<ConsumerOptions<T>> = {},
): Consumer<T> {
  const topics = options.partitions === undefined && options.topics === undefined ? { topics: ['orders'] } : {}
  return new Consumer<T>({
    brokers: kafka.brokers,
    from: 'beginning',
    ...fast,
    ...topics,
    ...options,
  } as ConsumerOptions<T>)
}

/** Sends values 'v0', 'v1', … to one partition, one batch per call. */
export async function fill(
  kafka: BrokerCluster,
  count: number,
  {
    topic = 'orders',
    partition = 0,
    from = 0,
    timestamp,
  }: { topic?: string; partition?: number; from?: number; timestamp?: number } = {},
): Promise<void> {
  const producer = new Producer({ brokers: kafka.brokers, logger: 'silent' })
  try {
    await producer.send(
      Array.from({ length: count }, (_, i) => ({
        topic,
        partition,
        value: `v${from + i}`,
        ...(timestamp === undefined ? {} : { timestamp }),
      })),
    )
  } finally {
    await producer.close()
  }
}

/** Puts bytes into a log as they are, with no broker looking at them. */
export function putInLog(kafka: BrokerCluster, batches: readonly Buffer[], topic = 'orders', index = 0): void {
  const partition = kafka.state.partition(topic, index)!
  for (const batch of batches) partition.log.append(batch)
  partition.changed()
}

/** Sends requests of the admin APIs. */
export function requester(kafka: BrokerCluster) {
  const cluster = new Cluster(
    resolveOptions('Test', { brokers: kafka.brokers, logger: 'silent' }, clientOptions),
    'Test',
  )
  return {
    send: <A extends AnyApi>(api: A, request: RequestInput<A>): Promise<ResponseOf<A>> =>
      cluster.sendToController(api, request, { deadline: cluster.deadline(5000) }),
    [Symbol.asyncDispose]: () => cluster.close(),
  }
}

/** The next so many records. */
export async function take<R>(records: AsyncIterable<R>, count: number): Promise<R[]> {
  const taken: R[] = []
  if (count === 0) return taken
  for await (const record of records) {
    taken.push(record)
    if (taken.length === count) break
  }
  return taken
}

export async function all<R>(records: AsyncIterable<R>): Promise<R[]> {
  return take(records, Infinity)
}

export const values = (records: readonly AnyRecord[]): string[] => records.map(({ value }) => String(value as Buffer))
export const offsets = (records: readonly AnyRecord[]): number[] => records.map(({ offset }) => offset)
export const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `v${from + i}`)

/** Resolves when the condition holds; looks again in every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Lets the event loop turn so many times: whatever is under way on loopback has arrived then. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}
