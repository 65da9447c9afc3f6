// Brokers that are killed and come back under a producer and a group at work. What needs replicas runs on Apache Kafka of three nodes only.
import { afterEach, describe, expect, it } from 'vitest'
import type { KafkaError } from '../../src/errors.js'
import { until } from '../helpers/until.js'
import { hasReplicas, useCluster, waitMs } from './cluster.js'
import { Tracker, Writer } from './load.js'
import { memberOf, numbers, produceNumbers, producerOf, recorded, take } from './clients.js'

const cluster = useCluster()
const PARTITIONS = 3

afterEach(() => cluster.startAgain(), 120_000)

/** Runs `disturb` under load and checks that all that was sent is in the log once and in order, and came through the group. */
async function survives(disturb: (topic: string, group: string, writer: Writer) => Promise<void>): Promise<void> {
  const topic = await cluster.createTopic('survives', PARTITIONS)
  const group = cluster.name('survivors')
  await using producer = producerOf(cluster)
  const members = numbers(2).map(() => memberOf(cluster, { group, topics: [topic], commit: { intervalMs: 100 } }))
  const events = members.map((member) => recorded(member, 'lost'))
  const tracker = new Tracker(PARTITIONS)
  for (const member of members) tracker.follow(member)
  const writer = new Writer(producer, topic, PARTITIONS)
  await writer.more(300)
  await until('both read', () => members.every(({ state }) => state === 'stable'), waitMs)
  await disturb(topic, group, writer)
  await writer.more(300)
  const sent = await writer.stop()
  for (const partition of numbers(PARTITIONS)) {
    const logged = (await cluster.records(topic, partition)).map(({ value }) => Number(value))
    expect(logged).toEqual(numbers(sent[partition] as number))
  }
  await until('the group has read it all', () => tracker.hasAll(sent), waitMs)
  await Promise.all(members.map((member) => member.close()))
  await tracker.done
  expect(events.flat()).toEqual([]) // so nothing came twice
  expect(tracker.values).toEqual(sent.map((count) => numbers(count)))
  const committed = await cluster.committed(group, topic)
  expect(numbers(PARTITIONS).map((partition) => committed.get(partition)?.offset)).toEqual(sent)
}

describe('brokers that are killed', () => {
  it('T08 all of them, for a while: what was sent arrives once and in order, and the group goes on', async () => {
    await survives(async (_topic, _group, writer) => {
      await cluster.kill(...cluster.nodeIds)
      await cluster.startAgain()
      await writer.more(100)
    })
  })

  it('T08 with no broker there a send rejects at its deadline, visibly; later it works again, and a group goes on', async () => {
    const topic = await cluster.createTopic('deadline')
    const group = cluster.name('keepers')
    await produceNumbers(cluster, topic, 100)
    const first = memberOf(cluster, { group, topics: [topic] })
    expect(await take(first, 40)).toEqual(numbers(40))
    await first.close()
    await using producer = producerOf(cluster, { deliveryTimeoutMs: 1500 })
    await producer.send(topic, { value: '100' })
    let unreachable = 0
    producer.on('unreachable', () => unreachable++)
    await cluster.kill(...cluster.nodeIds)
    const error: unknown = await producer.send(topic, { value: 'lost' }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: expect.stringMatching(/Error$/) as unknown, retriable: true })
    expect(unreachable).toBeGreaterThan(0)
    await cluster.startAgain()
    await until(
      'a send succeeds',
      async () => (await producer.send(topic, { value: '101' }).catch(() => undefined)) !== undefined,
      waitMs,
    )
    const logged = (await cluster.records(topic)).map(({ value }) => value)
    expect(logged[100]).toBe('100')
    expect(logged.at(-1)).toBe('101')
    const mayBeThere = (error as KafkaError).maybeWritten !== false
    expect(logged.filter((value) => value === 'lost').length).toBeLessThanOrEqual(mayBeThere ? 1 : 0)
    await using second = memberOf(cluster, { group, topics: [topic] })
    expect(await take(second, 60)).toEqual(numbers(60, 40))
  })
})

if (hasReplicas) {
  describe('with replicas', () => {
    it('T07 T47 a leader, and back: what was sent arrives once and in order, and the group goes on', async () => {
      await survives(async (topic, _group, writer) => {
        const leader = await cluster.leaderOf(topic, 0)
        await cluster.kill(leader)
        await until('another one leads', async () => (await cluster.leaderOf(topic, 0)) !== leader, waitMs)
        await writer.more(200)
        await cluster.startAgain()
        await until('all are in sync', async () => (await cluster.inSync(topic, 0)).length === 3, waitMs)
      })
    })

    it('T61 the coordinator of a group: nobody has to join again, and commits go to the new one', async () => {
      await survives(async (_topic, group, writer) => {
        const coordinator = await cluster.coordinatorOf(group)
        await cluster.kill(coordinator)
        await until('another one coordinates', async () => (await cluster.coordinatorOf(group)) !== coordinator, waitMs)
        await writer.more(200)
      })
    })

    it('T06 too few replicas in sync: a send rejects at its deadline, and succeeds when they are back', async () => {
      const topic = await cluster.createTopic('insync', 1, { 'min.insync.replicas': '3' })
      await using producer = producerOf(cluster, { deliveryTimeoutMs: 2000 })
      await producer.send(topic, { value: '0' })
      const leader = await cluster.leaderOf(topic, 0)
      await cluster.kill(cluster.nodeIds.find((id) => id !== leader) as number)
      await until('two are in sync', async () => (await cluster.inSync(topic, 0)).length === 2, waitMs)
      const error: unknown = await producer.send(topic, { value: '1' }).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ name: expect.stringMatching(/Error$/) as unknown, retriable: true })
      await cluster.startAgain()
      await until('three are in sync', async () => (await cluster.inSync(topic, 0)).length === 3, waitMs)
      await producer.send(topic, { value: '2' })
      const logged = (await cluster.records(topic)).map(({ value }) => value)
      // The leader may have appended it before it knew that the others are gone: the error tells, and then it is there once at most.
      const mayBeThere = (error as KafkaError).maybeWritten !== false && logged.length === 3
      expect(logged).toEqual(mayBeThere ? ['0', '1', '2'] : ['0', '2'])
    })
  })
}
