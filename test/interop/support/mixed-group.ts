// One group of ottla members and one of another client, through every change of who is in it and who leads it, while records come in.
import { expect } from 'vitest'
import type { BrokerCluster, GroupSnapshot } from '../../../src/broker.js'
import { Producer } from '../../../src/index.js'
import { GroupMember, type AssignorName } from '../../../src/client/group/index.js'
import { until } from '../../helpers/until.js'
import { ownedBy, recordsOf, startPeer, type PeerName } from './peers.js'
import type { Program } from './program.js'

/** The topic that a mixed group reads, and its number of partitions. */
export const mixedTopic = 'mixed'
export const mixedPartitions = 6

export interface MixedGroup {
  readonly peer: PeerName
  readonly assignor: AssignorName
  /** How the peer names the same assignor. @default as `assignor` */
  readonly peerAssignor?: string
  /**
   * Whether records come in all the time, or only while nobody joins or leaves: for a peer that by itself cannot hand partitions over in
   * the midst of reading without reading something twice.
   */
  readonly traffic: 'always' | 'between changes'
}

interface Place {
  readonly partition: number
  readonly offset: number
}

/** An ottla member that reads until it is closed. */
class OttlaMember {
  readonly seen: (Place & { readonly value: string })[] = []
  readonly lost: unknown[] = []
  readonly #member: GroupMember
  readonly #reading: Promise<void>

  constructor(brokers: readonly string[], group: string, assignor: AssignorName) {
    this.#member = new GroupMember({
      brokers,
      group,
      clientId: 'ottla',
      topics: [mixedTopic],
      from: 'beginning',
      assignors: [assignor],
      heartbeatMs: 100,
      sessionTimeoutMs: 10_000,
      maxWaitMs: 50,
      commit: { intervalMs: 100 },
    })
    this.#member.on('lost', (event) => void this.lost.push(event))
    this.#reading = this.#read()
    this.#reading.catch(() => undefined) // close() has it
  }

  async #read(): Promise<void> {
    for await (const { partition, offset, value } of this.#member)
      this.seen.push({ partition, offset, value: String(value) })
  }

  async close(): Promise<void> {
    await this.#member.close()
    await this.#reading
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Numbers its records; in the background it never gets far ahead of the readers. */
class Traffic {
  sent = 0
  readonly #producer: Producer
  readonly #seen: () => number
  #isOver = false
  #running: Promise<void> | undefined

  constructor(brokers: readonly string[], seen: () => number) {
    this.#producer = new Producer({ brokers })
    this.#seen = seen
  }

  async send(count: number): Promise<void> {
    const values = Array.from({ length: count }, (_, i) => this.sent + i)
    await this.#producer.send(
      mixedTopic,
      values.map((i) => ({ key: `k${i}`, value: `value-${i}`, partition: i % mixedPartitions })),
    )
    this.sent += count
  }

  start(): void {
    this.#running = this.#run()
    this.#running.catch(() => undefined) // stop() has it
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.send(12)
      await until('the readers keep up', () => this.#isOver || this.sent - this.#seen() < 120, 60_000)
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async close(): Promise<void> {
    await this.stop()
    await this.#producer.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const clientIdOf = (group: GroupSnapshot, memberId: string | null) =>
  group.members.find((member) => member.memberId === memberId)?.clientId

export async function shareWithPeer(kafka: BrokerCluster, options: MixedGroup): Promise<void> {
  const { peer, assignor, peerAssignor = assignor, traffic: kind } = options
  const { brokers } = kafka
  const group = `mixed-${peer}-${assignor}`
  const ottlas: OttlaMember[] = []
  const peers: Program[] = []
  const seen = () => ottlas.reduce((sum, one) => sum + one.seen.length, peers.flatMap(recordsOf).length)
  await using traffic = new Traffic(brokers, seen)
  const snapshot = () => kafka.groups().find((one) => one.group === group)

  /** The group is stable with this many members, and the partitions are shared out evenly between them. */
  const shared = (members: number): GroupSnapshot | undefined => {
    const found = snapshot()
    if (found?.state !== 'Stable' || found.members.length !== members) return undefined
    const isEven = found.members.every(({ assignment }) => assignment.length === mixedPartitions / members)
    const all = new Set(found.members.flatMap(({ assignment }) => assignment.map(({ partition }) => partition)))
    return isEven && all.size === mixedPartitions ? found : undefined
  }
  const settled = async (readers: (OttlaMember | Program)[]): Promise<GroupSnapshot> => {
    const count = (reader: OttlaMember | Program) =>
      reader instanceof OttlaMember ? reader.seen.length : recordsOf(reader).length
    const found = await until(`${group} is shared by ${readers.length}`, () => shared(readers.length), 30_000)
    for (const reader of readers) {
      if (reader instanceof OttlaMember) continue
      const theirs = found.members.find(({ clientId }) => clientId !== 'ottla')!.assignment
      const names = theirs.map(({ topic, partition }) => `${topic}-${partition}`).sort()
      await reader.until('it knows its partitions', () => ownedBy(reader).join() === names.join())
    }
    const before = readers.map(count)
    if (kind === 'between changes') await traffic.send(60)
    await until(
      `every member of ${group} reads on`,
      () => readers.every((one, i) => count(one) >= before[i]! + 20),
      30_000,
    )
    if (kind === 'between changes') {
      const isDone = () => seen() >= traffic.sent && snapshot()!.offsets.every(({ lag }) => lag === 0)
      await until(`everything is read and committed in ${group}`, isDone, 30_000)
    }
    expect(found.protocol).toBe(assignor)
    return found
  }

  if (kind === 'always') traffic.start()
  await using first = new OttlaMember(brokers, group, assignor)
  ottlas.push(first)
  await settled([first])
  await using other = startPeer(peer, 'group', { brokers, topic: mixedTopic, group, assignor: peerAssignor })
  peers.push(other)
  const both = await settled([first, other])
  expect(clientIdOf(both, both.leader)).toBe('ottla')

  await first.close()
  const alone = await settled([other])
  expect(clientIdOf(alone, alone.leader)).not.toBe('ottla')
  await using second = new OttlaMember(brokers, group, assignor)
  ottlas.push(second)
  const again = await settled([second, other])
  expect(clientIdOf(again, again.leader)).not.toBe('ottla')

  other.ask()
  await other.ended()
  expect(other.of('closed')).toHaveLength(1)
  expect(other.of('lost')).toHaveLength(0)
  await settled([second])
  await traffic.stop()
  await until('the last records are read', () => seen() >= traffic.sent)
  await second.close()

  const read = [...first.seen, ...second.seen, ...(recordsOf(other) as (Place & { value: string })[])]
  const values = read.map(({ value }) => Number(value.replace('value-', ''))).sort((a, b) => a - b)
  expect(values).toEqual(Array.from({ length: traffic.sent }, (_, i) => i)) // every record exactly once
  for (const { partition, offset, value } of read) expect(value).toBe(`value-${offset * mixedPartitions + partition}`)
  for (const one of [first.seen, second.seen, recordsOf(other)]) expect(isInOrder(one)).toBe(true)
  expect([...first.lost, ...second.lost]).toEqual([])
  expect(snapshot()).toMatchObject({ state: 'Empty', members: [] })
  expect(snapshot()!.offsets.map(({ lag }) => lag)).toEqual(Array(mixedPartitions).fill(0))
}

/** Each partition's offsets only ever rise in what one member read. */
function isInOrder(read: readonly Place[]): boolean {
  const last = new Map<number, number>()
  return read.every(({ partition, offset }) => {
    const isLater = offset > (last.get(partition) ?? -1)
    last.set(partition, offset)
    return isLater
  })
}
