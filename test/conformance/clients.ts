// What conformance tests do with the clients again and again: read to the end, read in the background, note events.
import { Consumer, type ConsumerOptions } from '../../src/client/consumer/index.js'
import { GroupMember, type GroupMemberEvents, type GroupMemberOptions } from '../../src/client/group/index.js'
import { Producer, type ProducerOptions } from '../../src/client/producer/index.js'
import type { Cluster } from './cluster.js'

export function producerOf(cluster: Cluster, options: Partial<ProducerOptions> = {}): Producer {
  return new Producer({ ...cluster.client, ...options })
}

export function consumerOf(cluster: Cluster, options: Partial<ConsumerOptions>): Consumer {
  return new Consumer({ ...cluster.client, from: 'beginning', maxWaitMs: 100, ...options })
}

/** Heartbeats often, so that it learns of a rebalance soon. */
export function memberOf(
  cluster: Cluster,
  options: Partial<GroupMemberOptions<string>> & { group: string; topics: readonly string[] },
): GroupMember {
  return new GroupMember({
    ...cluster.client,
    from: 'beginning',
    heartbeatMs: 50,
    maxWaitMs: 100,
    sessionTimeoutMs: 20_000,
    ...options,
  })
}

/** Sends so many records, in turn to every partition; values are their numbers. */
export async function produceNumbers(
  cluster: Cluster,
  topic: string,
  count: number,
  { first = 0, partitions = 1 }: { first?: number; partitions?: number } = {},
): Promise<void> {
  await using producer = producerOf(cluster)
  await producer.send(
    topic,
    numbers(count).map((i) => ({ value: String(first + i), partition: (first + i) % partitions })),
  )
}

/** All that is in a topic now, partition by partition. */
export async function readAll(cluster: Cluster, topic: string, options: Partial<ConsumerOptions> = {}) {
  await using consumer = consumerOf(cluster, { topics: [topic], to: 'end', ...options })
  const records = []
  for await (const record of consumer) records.push(record)
  return records.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

/** The next so many values, as numbers; each is done. */
export async function take(source: Consumer | GroupMember, count: number): Promise<number[]> {
  const values: number[] = []
  for await (const record of source) {
    values.push(valueOf(record))
    record.done()
    if (values.length === count) break
  }
  return values
}

/** Reads in the background until stop(), or until its source is closed. */
export class Reader {
  /** The values, as numbers, in the order of their coming. */
  readonly seen: number[] = []
  readonly #abort = new AbortController()
  readonly #done: Promise<void>

  constructor(source: Consumer | GroupMember) {
    this.#done = this.#read(source)
    this.#done.catch(() => {}) // whoever awaits `done` has it
  }

  async #read(source: Consumer | GroupMember): Promise<void> {
    try {
      for await (const record of source.records({ signal: this.#abort.signal })) this.seen.push(valueOf(record))
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error
    }
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#done
  }

  /** Rejects with what reading threw. */
  get done(): Promise<void> {
    return this.#done
  }
}

/** All events of these names, as they come. */
export function recorded<Name extends keyof GroupMemberEvents>(member: GroupMember, ...names: Name[]) {
  const events: [Name, GroupMemberEvents[Name]][] = []
  for (const name of names) member.on(name, (event) => void events.push([name, event]))
  return events
}

export const valueOf = (record: { readonly value: Buffer | null }): number => Number(String(record.value))
export const numbers = (count: number, first = 0) => Array.from({ length: count }, (_, i) => first + i)
export const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b)
