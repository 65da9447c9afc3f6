// A peer that reads in a group keeps its place when a partition answers with an error, connections break and the broker is slow.
import { expect } from 'vitest'
import type { BrokerCluster } from '../../../src/broker.js'
import { Producer } from '../../../src/index.js'
import { until } from '../../helpers/until.js'
import { recordsOf, startPeer, type PeerName } from './peers.js'

export const faultyTopic = 'faulty'
const partitions = 3

/**
 * Of three brokers two break a connection: a client that can reach none that it knows starts over with the bootstrap servers (KIP-899), and
 * Java's then joins anew.
 * `rejoins`: kafkajs joins anew after such an error and reads again what it has not committed: nothing is sent meanwhile.
 */
export async function readsThroughFaults(
  kafka: BrokerCluster,
  peer: PeerName,
  assignor: string,
  rejoins = false,
): Promise<void> {
  const { brokers } = kafka
  const group = `steady-${peer}`
  await using producer = new Producer({ brokers })
  const send = (first: number, count: number) =>
    producer.send(
      faultyTopic,
      Array.from({ length: count }, (_, i) => ({ value: `${first + i}`, partition: (first + i) % partitions })),
    )
  await send(0, 60)
  await using member = startPeer(peer, 'group', { brokers, topic: faultyTopic, group, assignor })
  await member.until('it has read the first records', () => recordsOf(member).length === 60)
  const snapshot = () => kafka.groups().find((one) => one.group === group)!
  const heartbeats = () => kafka.requests.filter(({ api }) => api === 'Heartbeat').length
  const { generation, members } = snapshot()

  const isCommitted = () => snapshot().offsets.length === partitions && snapshot().offsets.every(({ lag }) => lag === 0)
  if (rejoins) await until('it has committed', isCommitted)

  // Kafka answers a partition's error for that partition alone; the others of the same fetch go on.
  const partitionError = kafka.faults.add({
    api: 'Fetch',
    topic: faultyTopic,
    partition: 1,
    times: 1,
    error: 'NOT_LEADER_OR_FOLLOWER',
  })
  await member.until('a partition had an error', () => partitionError.hits === 1)
  if (rejoins)
    await member.until('it has joined anew', () => snapshot().state === 'Stable' && snapshot().generation > generation)
  await send(60, 60)
  await member.until('it reads on after the error', () => recordsOf(member).length === 120)
  if (rejoins) await until('it has committed', isCommitted)
  const broken = [
    kafka.faults.add({ api: 'Heartbeat', times: 1, disconnect: true }),
    kafka.faults.add({ api: 'Fetch', topic: faultyTopic, times: 1, disconnect: true }),
  ]
  await member.until('its connections broke', () => broken.every(({ hits }) => hits === 1))
  await send(120, 60)
  await member.until('it reads on after reconnecting', () => recordsOf(member).length === 180)
  const before = heartbeats()
  await until('it beats again', () => heartbeats() > before)
  const same = { generation, members: [{ memberId: members[0]!.memberId }] }
  expect(snapshot()).toMatchObject({ state: 'Stable', ...(rejoins ? {} : same) })

  member.ask()
  await member.ended()
  const values = recordsOf(member).map(({ value }) => Number(value))
  expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 180 }, (_, i) => i))
  expect(snapshot()).toMatchObject({ state: 'Empty', ...(rejoins ? {} : { generation: generation + 1 }) })
  expect(snapshot().offsets.map(({ offset }) => offset)).toEqual([60, 60, 60])
}
