// A load that goes on while something happens to the brokers or the group, and the books of what came of it.
import type { GroupMember } from '../../src/client/group/index.js'
import type { Producer } from '../../src/client/producer/index.js'
import { until } from '../helpers/until.js'
import { waitMs } from './cluster.js'
import { numbers } from './clients.js'

/** Sends without pause, five records per partition on their way, until stop(); values count up in each partition. */
export class Writer {
  acknowledged = 0
  readonly #next: number[]
  readonly #lanes: Promise<void>[]
  #isStopped = false

  constructor(producer: Producer, topic: string, partitions: number) {
    this.#next = Array<number>(partitions).fill(0)
    this.#lanes = numbers(5 * partitions).map((i) => this.#lane(producer, topic, i % partitions))
    for (const lane of this.#lanes) lane.catch(() => {}) // stop() gives what went wrong
  }

  async #lane(producer: Producer, topic: string, partition: number): Promise<void> {
    while (!this.#isStopped) {
      const value = this.#next[partition]!++
      await producer.send(topic, { value: String(value), partition })
      this.acknowledged++
    }
  }

  /** Resolves when so many more than now are acknowledged. */
  more(count: number): Promise<unknown> {
    const wanted = this.acknowledged + count
    return until(`${count} more are acknowledged`, () => this.acknowledged >= wanted, waitMs)
  }

  /** How many it has sent to each partition; all of them are acknowledged, or this rejects. */
  async stop(): Promise<readonly number[]> {
    this.#isStopped = true
    await Promise.all(this.#lanes)
    return this.#next
  }
}

/** What members were given out, by partition, in the order of its coming. */
export class Tracker {
  readonly values: number[][]
  readonly #reading: Promise<void>[] = []

  constructor(partitions: number) {
    this.values = numbers(partitions).map(() => [])
  }

  follow(member: GroupMember): void {
    const reading = this.#read(member)
    reading.catch(() => {}) // `done` gives what went wrong
    this.#reading.push(reading)
  }

  async #read(member: GroupMember): Promise<void> {
    for await (const { partition, value } of member) this.values[partition]?.push(Number(String(value)))
  }

  /** Whether so many different ones of each partition have come. */
  hasAll(counts: readonly number[]): boolean {
    return this.values.every((values, i) => new Set(values).size === counts[i])
  }

  /** When all members are closed. */
  get done(): Promise<unknown> {
    return Promise.all(this.#reading)
  }
}
