import { describe, expect, it } from 'vitest'
import { startBroker, type BrokerCluster } from '../../../src/broker.js'
import { GroupMember, type GroupMemberEvents, type GroupMemberOptions } from '../../../src/client/group/index.js'
import { Producer } from '../../../src/client/producer/index.js'
import { json, string, topic } from '../../../src/client/serde/index.js'
import { CreatePartitions } from '../../../src/protocol/messages/create-partitions.js'
import { CreateTopics } from '../../../src/protocol/messages/create-topics.js'
import { partitionKey } from '../../../src/protocol/topic-partition.js'
import { until } from '../../helpers/until.js'
import { WireClient } from '../../helpers/wire-client.js'
import { memberOf } from './group-helpers.js'

const PARTITIONS = 6

function startKafka(partitions = PARTITIONS): Promise<BrokerCluster> {
  return startBroker({ topics: { orders: partitions }, config: { 'group.min.session.timeout.ms': 100 } })
}

/** Sends `count` records, in turn to every partition; values are their numbers. */
async function produce(kafka: BrokerCluster, count: number, first = 0, partitions = PARTITIONS): Promise<void> {
  await using producer = new Producer({ brokers: kafka.brokers })
  await producer.send(
    'orders',
    Array.from({ length: count }, (_, i) => ({ value: String(first + i), partition: (first + i) % partitions })),
  )
}

/** Reads in the background until stop() or close(); `seen` are the values. */
class Reader {
  readonly seen: number[] = []
  readonly #abort = new AbortController()
  readonly #done: Promise<void>

  constructor(member: GroupMember) {
    this.#done = this.#read(member)
  }

  async #read(member: GroupMember): Promise<void> {
    try {
      for await (const record of member.records({ signal: this.#abort.signal }))
        this.seen.push(Number(String(record.value)))
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error
    }
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#done
  }

  get done(): Promise<void> {
    return this.#done
  }
}

async function take(member: GroupMember, count: number): Promise<number[]> {
  const values: number[] = []
  for await (const record of member) {
    values.push(Number(String(record.value)))
    record.done()
    if (values.length === count) break
  }
  return values
}

/** All events of these names, as they come. */
function recorded<Name extends keyof GroupMemberEvents>(
  member: GroupMember,
  ...names: Name[]
): [Name, GroupMemberEvents[Name]][] {
  const events: [Name, GroupMemberEvents[Name]][] = []
  for (const name of names) member.on(name, (event) => void events.push([name, event]))
  return events
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b)

describe('a member alone', () => {
  it('reads everything, and the next one of its group goes on behind what was done', async () => {
    await using kafka = await startKafka()
    await produce(kafka, 30)
    const first = memberOf(kafka)
    const seen = await take(first, 20)
    await first.close()
    await using second = memberOf(kafka)
    seen.push(...(await take(second, 10)))
    expect(sorted(seen)).toEqual(numbers(30))
  })

  it('T118 begins again with the record last given out after a break, unless it was called done', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 5, 0, 1)
    await using member = memberOf(kafka)
    for await (const record of member) {
      expect(record.offset).toBe(0)
      break
    }
    for await (const record of member) {
      expect(record.offset).toBe(0)
      record.done()
      break
    }
    const body = async () => {
      for await (const record of member) throw new Error(`at ${record.offset}`)
    }
    await expect(body()).rejects.toThrow('at 1')
    for await (const record of member) {
      expect(record.offset).toBe(1)
      await member.commit(record, { metadata: 'by hand' })
      break
    }
    for await (const record of member) {
      expect(record.offset).toBe(2)
      break
    }
    expect(kafka.groups()).toMatchObject([
      { group: 'billing', offsets: [{ topic: 'orders', partition: 0, offset: 2 }] },
    ])
  })

  it('commits nothing that was fetched and not given out, and not the record in hand', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 100, 0, 1)
    const member = memberOf(kafka)
    let count = 0
    for await (const record of member) {
      expect(record.offset).toBe(count)
      if (++count === 10) {
        await member.close()
      }
    }
    expect(count).toBe(10)
    expect(kafka.groups()[0]?.offsets).toMatchObject([{ offset: 9 }])
  })

  it('takes batches, and marks a batch as done when the next is asked for', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 30, 0, 1)
    await using member = memberOf(kafka, { commit: 'manual' })
    const firsts: number[] = []
    for await (const batch of member.batches({ maxRecords: 10 })) {
      firsts.push(batch.firstOffset)
      if (firsts.length === 2) break
    }
    await member.commit()
    expect(firsts).toEqual([0, 10])
    expect(kafka.groups()[0]?.offsets).toMatchObject([{ offset: 10 }])
    for await (const batch of member.batches({ maxRecords: 10 })) {
      expect(batch.firstOffset).toBe(10)
      batch.done()
      break
    }
    await member.commit()
    expect(kafka.groups()[0]?.offsets).toMatchObject([{ offset: 20 }])
  })

  it('decodes by the types of its topic', async () => {
    await using kafka = await startKafka(1)
    const orders = topic('orders', { key: string(), value: json<{ total: number }>() })
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send(orders, { key: 'c-7', value: { total: 12 } })
    await using member = new GroupMember({ brokers: kafka.brokers, topics: [orders], from: 'beginning' })
    for await (const record of member) {
      expect(record.key).toBe('c-7')
      expect(record.value.total).toBe(12)
      break
    }
  })

  it('rewinds to the beginning, an offset and a time', async () => {
    await using kafka = await startKafka(1)
    await using producer = new Producer({ brokers: kafka.brokers })
    const at = (i: number) => Date.UTC(2026, 0, 1, i)
    await producer.send(
      'orders',
      numbers(10).map((i) => ({ value: String(i), timestamp: at(i) })),
    )
    await using member = memberOf(kafka)
    expect(await take(member, 10)).toEqual(numbers(10))
    await member.rewind('beginning')
    expect(await take(member, 3)).toEqual([0, 1, 2])
    await member.rewind(7)
    expect(await take(member, 2)).toEqual([7, 8])
    await member.rewind(new Date(at(4)))
    expect(await take(member, 2)).toEqual([4, 5])
    expect(await member.lag()).toEqual([{ topic: 'orders', partition: 0, position: 6, end: 10, lag: 4 }])
  })

  it('T104 commits in intervals, tells of it, and does not repeat what is committed', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 3, 0, 1)
    await using member = memberOf(kafka, { commit: { intervalMs: 20 } })
    const events = recorded(member, 'committed')
    const reader = new Reader(member)
    await until('three are committed', () => kafka.groups()[0]?.offsets[0]?.offset === 3)
    await reader.stop()
    const offsets = events.flatMap(([, event]) => event.offsets.map(({ offset }) => offset))
    expect(new Set(offsets).size).toBe(offsets.length)
  })

  it('T79 rejects a commit with the outcome of every partition when one fails', async () => {
    await using kafka = await startKafka(2)
    await produce(kafka, 2, 0, 2)
    await using member = memberOf(kafka, { commit: 'manual' })
    await take(member, 2)
    kafka.faults.add({
      api: 'OffsetCommit',
      topic: 'orders',
      partition: 1,
      error: 'OFFSET_METADATA_TOO_LARGE',
      times: 1,
    })
    await expect(member.commit()).rejects.toMatchObject({
      name: 'CommitError',
      code: 'OFFSET_METADATA_TOO_LARGE',
      results: expect.arrayContaining([
        expect.objectContaining({ partition: 0, error: undefined }),
        expect.objectContaining({
          partition: 1,
          error: expect.objectContaining({ code: 'OFFSET_METADATA_TOO_LARGE' }) as unknown,
        }),
      ]) as unknown,
    })
  })

  it('T80 tells of a background commit that fails, and commits with the next one', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 1, 0, 1)
    await using member = memberOf(kafka, { commit: { intervalMs: 20 } })
    const failures = recorded(member, 'commitFailed')
    kafka.faults.add({ api: 'OffsetCommit', error: 'GROUP_AUTHORIZATION_FAILED', times: 1 })
    await take(member, 1)
    await until('it is committed', () => kafka.groups()[0]?.offsets[0]?.offset === 1)
    expect(failures).toMatchObject([['commitFailed', { error: { code: 'GROUP_AUTHORIZATION_FAILED' } }]])
  })
})

describe('members together', () => {
  it.each([['range', 'cooperative-sticky'], ['cooperative-sticky'], ['roundrobin']] as const)(
    'share the partitions by %s, a third one joins, one leaves, and nothing is lost or read twice',
    async (...assignors) => {
      await using kafka = await startKafka()
      await produce(kafka, 60)
      const members = [memberOf(kafka, { assignors }), memberOf(kafka, { assignors })]
      const readers = members.map((member) => new Reader(member))
      await until('two share', () =>
        members.every((member) => member.state === 'stable' && member.partitions().length === 3),
      )
      await produce(kafka, 60, 60)
      const third = memberOf(kafka, { assignors })
      members.push(third)
      readers.push(new Reader(third))
      await until('three share', () =>
        members.every((member) => member.state === 'stable' && member.partitions().length === 2),
      )
      await produce(kafka, 60, 120)
      await until('all is read', () => readers.flatMap(({ seen }) => seen).length >= 180)
      await members[0]?.close()
      await until('two are left', () => members.slice(1).every((member) => member.partitions().length === 3))
      await produce(kafka, 60, 180)
      await until('the rest is read', () => readers.flatMap(({ seen }) => seen).length >= 240)
      await Promise.all(members.map((member) => member.close()))
      await Promise.all(readers.map((reader) => reader.done))
      expect(sorted(readers.flatMap(({ seen }) => seen))).toEqual(numbers(240))
      expect(kafka.groups()).toMatchObject([{ state: 'Empty' }])
      expect(kafka.groups()[0]?.offsets.map(({ offset }) => offset)).toEqual(Array<number>(PARTITIONS).fill(40))
    },
  )

  it('T67 never pauses what it keeps in a cooperative rebalance, and revokes only what moves', async () => {
    await using kafka = await startKafka()
    const assignors = ['cooperative-sticky'] as const
    await using first = memberOf(kafka, { assignors })
    const events = recorded(first, 'assigned', 'revoked', 'lost')
    await first.ready()
    await using second = memberOf(kafka, { assignors })
    await second.ready()
    await until('they share', () => first.partitions().length === 3 && second.partitions().length === 3)
    expect(events.map(([name, { partitions }]) => [name, partitions.length])).toEqual([
      ['assigned', 6],
      ['revoked', 3],
    ])
    const kept = new Set(first.partitions().map(partitionKey))
    for (const one of second.partitions()) expect(kept.has(partitionKey(one))).toBe(false)
  })

  it('waits for a slow handler and its commit before a partition goes to another member', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 2, 0, 1)
    await using first = memberOf(kafka)
    let release = () => {}
    const handled: number[] = []
    const handling = (async () => {
      for await (const record of first) {
        if (record.offset === 0) await new Promise<void>((resolve) => (release = resolve))
        handled.push(record.offset)
        if (record.offset === 1) break
      }
    })()
    await until('the handler has its record', () => first.position({ topic: 'orders', partition: 0 }) === 1)
    await using second = memberOf(kafka, { assignors: ['range', 'cooperative-sticky'] })
    const reader = new Reader(second)
    await until('the first one gives its partition up', () => first.state === 'preparing')
    expect(kafka.groups()[0]?.offsets).toEqual([])
    release()
    await until('both are there', () => first.state === 'stable' && second.state === 'stable')
    await until('the other record is read by one of them', () => handled.length + reader.seen.length === 2)
    expect(sorted([...handled, ...reader.seen])).toEqual([0, 1])
    await reader.stop()
    await first.close()
    await handling
  })

  it('T70 expires a member that was killed, and the others take over what it had not committed', async () => {
    await using kafka = await startKafka(2)
    await produce(kafka, 10, 0, 2)
    const assignors = ['range'] as const
    const options = { assignors, sessionTimeoutMs: 500 }
    const killed = memberOf(kafka, { ...options, clientId: 'killed' })
    await using survivor = memberOf(kafka, options)
    await Promise.all([killed.ready(), survivor.ready()])
    await until('they share', () => killed.partitions().length === 1 && survivor.partitions().length === 1)
    const fault = kafka.faults.add({ api: 'Heartbeat', client: 'killed', error: 'COORDINATOR_LOAD_IN_PROGRESS' }) // as if it were gone
    const reader = new Reader(survivor)
    await until('the survivor has both', () => survivor.partitions().length === 2)
    await until('and reads all', () => new Set(reader.seen).size === 10)
    expect(fault.hits).toBeGreaterThan(0)
    await reader.stop()
    fault.remove()
    await killed.close()
  })
})

describe('when the group goes wrong', () => {
  it('T57 T60 gives up as lost what the coordinator forgot, commits none of it, and joins again', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 3, 0, 1)
    await using member = memberOf(kafka, { commit: 'manual' })
    const events = recorded(member, 'revoked', 'lost', 'assigned')
    let stale: unknown
    for await (const record of member) {
      stale ??= record
      if (record.offset === 1) {
        kafka.faults.add({ api: 'Heartbeat', error: 'UNKNOWN_MEMBER_ID', times: 1 })
        await until('it joins anew', () => member.state === 'joining' && kafka.groups()[0]?.members.length === 2)
        kafka.clock.advance(60_000) // what it was before is still in the group, and has to expire
        await until('it is back', () => events.filter(([name]) => name === 'assigned').length === 2)
        await expect(member.commit(record)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
        break
      }
    }
    expect(events.map(([name]) => name)).toEqual(['assigned', 'lost', 'assigned'])
    expect(await take(member, 3)).toEqual([0, 1, 2])
  })

  it('T59 leaves visibly when a handler takes too long, and joins again when it asks for more', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 2, 0, 1)
    await using member = memberOf(kafka, { maxProcessingMs: 200, sessionTimeoutMs: 5000 })
    const events = recorded(member, 'stalled', 'lost')
    const seen: number[] = []
    for await (const record of member) {
      seen.push(record.offset)
      if (seen.length === 1) await until('the group is empty', () => kafka.groups()[0]?.members.length === 0)
      if (seen.length === 3) break
    }
    expect(seen).toEqual([0, 0, 1])
    expect(events.map(([name]) => name)).toEqual(['stalled', 'lost'])
  })

  it('T59 keeps its place in the group while a handler is slow but within the limit', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 1, 0, 1)
    await using member = memberOf(kafka)
    const events = recorded(member, 'lost', 'revoked')
    const heartbeats = () => kafka.requests.filter(({ api }) => api === 'Heartbeat').length
    for await (const record of member) {
      for (let i = 0; i < 5; i++) {
        kafka.clock.advance(20_000) // of a session of 45
        const before = heartbeats()
        await until('two more heartbeats', () => heartbeats() >= before + 2)
      }
      record.done()
      break
    }
    expect(events).toEqual([])
    expect(kafka.groups()[0]?.generation).toBe(1)
  })

  it('T61 T62 finds a coordinator that is not there yet, or moves, without joining again', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 1 } })
    await produce(kafka, 3, 0, 1)
    kafka.faults.add({ api: 'FindCoordinator', error: 'COORDINATOR_NOT_AVAILABLE', times: 3 })
    await using member = memberOf(kafka)
    const retries = recorded(member, 'retry')
    await member.ready()
    expect(retries.length).toBeGreaterThanOrEqual(3)
    const generation = kafka.groups()[0]?.generation
    kafka.faults.add({ api: 'Heartbeat', error: 'NOT_COORDINATOR', times: 2 })
    const before = kafka.requests.filter(({ api }) => api === 'FindCoordinator').length
    await until('it is looked up', () => kafka.requests.filter(({ api }) => api === 'FindCoordinator').length > before)
    await take(member, 3)
    await member.commit()
    expect(kafka.groups()[0]?.generation).toBe(generation)
  })

  it('T64 T65 never falls back to where a new group would begin when committed offsets cannot be read', async () => {
    await using kafka = await startKafka(1)
    await produce(kafka, 10, 0, 1)
    const first = memberOf(kafka)
    await take(first, 5)
    await first.close()
    const errors = ['COORDINATOR_LOAD_IN_PROGRESS', 'NOT_COORDINATOR', 'UNSTABLE_OFFSET_COMMIT'] as const
    for (const error of errors) kafka.faults.add({ api: 'OffsetFetch', error, times: 1 })
    await using second = memberOf(kafka)
    expect(await take(second, 5)).toEqual([5, 6, 7, 8, 9])
  })

  it('T56 commits again after a rebalance that refused it, when it still owns the partition', async () => {
    await using kafka = await startKafka(2)
    await produce(kafka, 4, 0, 2)
    await using member = memberOf(kafka, { commit: 'manual', assignors: ['cooperative-sticky'] })
    await take(member, 4)
    kafka.faults.add({ api: 'OffsetCommit', error: 'REBALANCE_IN_PROGRESS', times: 1 })
    await member.commit()
    expect(kafka.groups()[0]?.offsets.map(({ offset }) => offset)).toEqual([2, 2])
  })

  it('T69 keeps the partitions of a static member that restarts, and fences the older one', async () => {
    await using kafka = await startKafka(2)
    const options = { instanceId: 'till-1' }
    const first = memberOf(kafka, options)
    await first.ready()
    const generation = kafka.groups()[0]?.generation
    await first.close()
    const second = memberOf(kafka, options)
    await second.ready()
    expect(kafka.groups()[0]?.generation).toBe(generation)
    const fenced = expect(new Reader(second).done).rejects.toMatchObject({ code: 'FENCED_INSTANCE_ID' })
    await using third = memberOf(kafka, options)
    await third.ready()
    await fenced
    await second.close()
  })

  it('T76 reads a partition that was added from its beginning', async () => {
    await using kafka = await startKafka(1)
    await using member = memberOf(kafka, { from: 'end', metadataMaxAgeMs: 50 })
    await member.ready()
    const reader = new Reader(member)
    using admin = await WireClient.open(kafka.brokers[0] as string)
    const topics = [{ name: 'orders', count: 2, assignments: null }]
    await admin.ask(CreatePartitions, 3, { topics, timeoutMs: 1000, validateOnly: false })
    await produce(kafka, 2, 0, 2)
    await until('both are read', () => reader.seen.length === 2)
    expect(member.partitions()).toHaveLength(2)
    await reader.stop()
  })

  it('T82 closes in time while its join is parked at the broker, and leaves', async () => {
    await using kafka = await startBroker({
      topics: { orders: 1 },
      config: { 'group.initial.rebalance.delay.ms': 60_000 },
    })
    const member = memberOf(kafka)
    const ready = member.ready()
    const failed = expect(ready).rejects.toMatchObject({ code: 'CLOSED' })
    await until('the join is parked', () => kafka.groups()[0]?.members.length === 1)
    await member.close({ timeoutMs: 2000 })
    await failed
    expect(kafka.groups()[0]?.members ?? []).toHaveLength(0)
  })

  it('T118 ends a waiting iteration on close, and refuses a second one at once', async () => {
    await using kafka = await startKafka(1)
    const member = memberOf(kafka)
    const reader = new Reader(member)
    await member.ready()
    await expect(take(member, 1)).rejects.toMatchObject({ name: 'UsageError' })
    await member.close()
    await reader.done
    await expect(member.ready()).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(member.close()).resolves.toBeUndefined()
  })

  it('T52 keeps partitions paused, and places sought, in the assigned event', async () => {
    await using kafka = await startKafka(2)
    await produce(kafka, 10, 0, 2)
    await using member = memberOf(kafka)
    member.on('assigned', () => {
      member.pause([{ topic: 'orders', partition: 0 }])
      member.seek({ topic: 'orders', partition: 1 }, 3)
    })
    expect(await take(member, 2)).toEqual([7, 9])
    member.resume()
    expect(await take(member, 5)).toEqual([0, 2, 4, 6, 8])
  })

  it('T51 refuses to seek in a partition that is not its own', async () => {
    await using kafka = await startKafka(1)
    await using member = memberOf(kafka)
    await member.ready()
    expect(() => member.seek({ topic: 'orders', partition: 9 }, 0)).toThrow(
      expect.objectContaining({ code: 'NOT_ASSIGNED' }),
    )
  })

  it('throws what cannot heal to whoever reads or waits', async () => {
    await using kafka = await startKafka(1)
    kafka.faults.add({ api: 'JoinGroup', error: 'GROUP_AUTHORIZATION_FAILED' })
    await using member = memberOf(kafka)
    await expect(member.ready()).rejects.toMatchObject({ name: 'AuthorizationError' })
    await expect(take(member, 1)).rejects.toMatchObject({ code: 'GROUP_AUTHORIZATION_FAILED' })
  })

  it('waits for a topic that does not exist yet', async () => {
    await using kafka = await startBroker({ autoCreateTopics: false })
    await using member = memberOf(kafka, { allowAutoTopicCreation: false })
    await member.ready()
    const reader = new Reader(member)
    using admin = await WireClient.open(kafka.brokers[0] as string)
    const topics = [{ name: 'orders', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }]
    await admin.ask(CreateTopics, 7, { topics, timeoutMs: 1000 })
    await produce(kafka, 1, 0, 1)
    await until('it is read', () => reader.seen.length === 1)
    await reader.stop()
  })
})

describe('options', () => {
  it.each([
    [{ topics: [] }, /topics must be an array of at least one/],
    [{ topics: ['a'], assignors: ['sticky'] }, /assignors must be an array whose item 0 is one of/],
    [{ topics: ['a'], commit: { intervalMs: 0 } }, /commit must be 'manual' or/],
    [{ topics: ['a'], heartbeatMs: 50_000 }, /heartbeatMs must be below sessionTimeoutMs/],
    [{ topics: ['a'], groupId: 'g' }, /unknown option groupId/],
    [{ topics: ['a'], protocol: 'consumer' }, /not supported yet/],
    [{ topics: ['a'], from: 'earliest' }, /from must be 'beginning', 'end'/],
  ])('%j are refused at once', (options, message) => {
    const given = { brokers: ['localhost:9092'], ...options } as unknown as GroupMemberOptions<string>
    expect(() => new GroupMember(given)).toThrow(message)
  })
})
