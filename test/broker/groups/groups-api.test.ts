// DescribeGroups, ListGroups, DeleteGroups and FindCoordinator as clients meet them, and what happens when the coordinator moves.
import { describe, expect, test } from 'vitest'
import { DeleteGroups } from '../../../src/protocol/messages/delete-groups.js'
import { DescribeGroups } from '../../../src/protocol/messages/describe-groups.js'
import { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { ListGroups } from '../../../src/protocol/messages/list-groups.js'
import type { AnyApi } from '../../../src/protocol/wire/index.js'
import { subscription } from './classic-events.js'
import { errorName, GroupLab } from './group-lab.js'

const versionsOf = ({ stableVersions: { min, max } }: AnyApi) =>
  Array.from({ length: max - min + 1 }, (_, at) => min + at)

describe('DescribeGroups', () => {
  test.each(versionsOf(DescribeGroups))(
    'version %i shows members, and what they are assigned once the group is stable',
    async (version) => {
      using lab = new GroupLab()
      const { memberId } = await lab.stable()
      const { groups } = await lab.ask(DescribeGroups, version, { groups: ['billing'] })
      expect(groups).toMatchObject([
        {
          errorCode: 0,
          groupState: 'Stable',
          protocolType: 'consumer',
          protocolData: 'range',
          members: [{ memberId, groupInstanceId: null, clientId: 'app', clientHost: '/127.0.0.1' }],
          authorizedOperations: -(2 ** 31),
        },
      ])
      expect(groups[0]?.members[0]?.memberMetadata).toEqual(subscription('orders'))
      expect(groups[0]?.members[0]?.memberAssignment.toString()).toBe('everything')
    },
  )

  test.each(versionsOf(DescribeGroups))(
    'T87 version %i tells of a group that is not there: Dead up to 5, an error from 6',
    async (version) => {
      using lab = new GroupLab()
      const { groups } = await lab.ask(DescribeGroups, version, { groups: ['nobody'] })
      expect(groups).toMatchObject([
        {
          errorCode: version < 6 ? 0 : 69,
          errorMessage: version < 6 ? null : 'Group nobody not found.',
          groupState: 'Dead',
          members: [],
        },
      ])
    },
  )

  test('subscriptions are not shown while the group rebalances', async () => {
    using lab = new GroupLab()
    const first = await lab.stable()
    const second = lab.join({}, 3)
    const { groups } = await lab.ask(DescribeGroups, 6, { groups: ['billing'], includeAuthorizedOperations: true })
    expect(groups[0]).toMatchObject({ groupState: 'PreparingRebalance', protocolData: '' })
    expect(groups[0]?.members.map(({ memberMetadata }) => memberMetadata.length)).toEqual([0, 0])
    await lab.join({ memberId: first.memberId }, 3)
    await second
  })

  test('another broker than the coordinator answers NOT_COORDINATOR for that group', async () => {
    using lab = new GroupLab({ brokers: 2 })
    await lab.stable()
    const { groups } = await lab.ask(DescribeGroups, 5, { groups: ['billing'] }, 3 - lab.coordinatorOf('billing'))
    expect(groups.map(({ errorCode, groupState }) => [errorName(errorCode), groupState])).toEqual([
      ['NOT_COORDINATOR', ''],
    ])
  })
})

describe('ListGroups', () => {
  test.each(versionsOf(ListGroups))('version %i lists the groups of the broker that is asked', async (version) => {
    using lab = new GroupLab({ brokers: 2 })
    const names = ['a', 'b', 'c', 'd']
    for (const groupId of names) await lab.commit(1, { groupId })
    const listed = await Promise.all([1, 2].map((broker) => lab.ask(ListGroups, version, {}, broker)))
    for (const [at, { groups }] of listed.entries())
      for (const { groupId } of groups) expect(lab.coordinatorOf(groupId)).toBe(at + 1)
    expect(listed.flatMap(({ groups }) => groups.map(({ groupId }) => groupId)).sort()).toEqual(names)
  })

  test('by state and type, whatever their case; a group that only commits has no protocol type', async () => {
    using lab = new GroupLab()
    await lab.stable()
    await lab.commit(1, { groupId: 'simple' })
    const list = async (statesFilter: string[], typesFilter: string[] = []) =>
      (await lab.ask(ListGroups, 5, { statesFilter, typesFilter })).groups
    expect(await list(['STABLE'])).toEqual([
      { groupId: 'billing', protocolType: 'consumer', groupState: 'Stable', groupType: 'classic' },
    ])
    expect(await list(['empty'], ['Classic'])).toEqual([
      { groupId: 'simple', protocolType: '', groupState: 'Empty', groupType: 'classic' },
    ])
    expect(await list([], ['consumer'])).toEqual([])
  })
})

describe('DeleteGroups', () => {
  test.each(versionsOf(DeleteGroups))('T89 version %i deletes only groups without members', async (version) => {
    using lab = new GroupLab()
    await lab.stable()
    await lab.commit(1, { groupId: 'simple' })
    const { results } = await lab.ask(DeleteGroups, version, { groupsNames: ['billing', 'simple', 'nobody', 'simple'] })
    expect(results.map(({ groupId, errorCode }) => [groupId, errorName(errorCode)])).toEqual([
      ['billing', 'NON_EMPTY_GROUP'],
      ['simple', 'NONE'],
      ['nobody', 'GROUP_ID_NOT_FOUND'],
    ])
    expect(lab.groups.snapshot().map(({ group }) => group)).toEqual(['billing'])
    expect(await lab.committed('simple')).toEqual({})
  })
})

describe('FindCoordinator', () => {
  test.each(versionsOf(FindCoordinator))(
    '9 version %i names a living broker, for one key or several',
    async (version) => {
      using lab = new GroupLab({ brokers: 3 })
      const keys = version < 4 ? ['billing'] : ['billing', 'audit']
      const answer = await lab.ask(
        FindCoordinator,
        version,
        version < 4 ? { key: 'billing' } : { coordinatorKeys: keys },
        1,
      )
      const found = version < 4 ? [{ ...answer, key: 'billing' }] : answer.coordinators
      expect(found.map(({ key, nodeId, host, port, errorCode }) => ({ key, nodeId, host, port, errorCode }))).toEqual(
        keys.map((key) => ({
          key,
          nodeId: lab.coordinatorOf(key),
          host: '127.0.0.1',
          port: 9_000 + lab.coordinatorOf(key),
          errorCode: 0,
        })),
      )
    },
  )

  test('transactions and share groups have no coordinator yet, which is said', async () => {
    using lab = new GroupLab()
    for (const keyType of [1, 2, 9]) {
      const { coordinators } = await lab.ask(FindCoordinator, 6, { keyType, coordinatorKeys: ['x'] })
      expect(coordinators).toMatchObject([{ key: 'x', nodeId: -1, port: -1, errorCode: 42 }])
      expect(coordinators[0]?.errorMessage).toContain('no coordinator')
    }
  })

  test('with no broker running there is none: COORDINATOR_NOT_AVAILABLE', async () => {
    using lab = new GroupLab({ brokers: 2 })
    lab.cluster.setAlive(1, false)
    lab.cluster.setAlive(2, false)
    const { coordinators } = await lab.ask(FindCoordinator, 6, { coordinatorKeys: ['billing'] }, 1)
    expect(errorName(coordinators[0]?.errorCode)).toBe('COORDINATOR_NOT_AVAILABLE')
  })
})

describe('B17 T61 a coordinator that moves', () => {
  const heartbeat = async (lab: GroupLab, memberId: string, generationId: number, broker?: number) =>
    errorName((await lab.ask(Heartbeat, 4, { groupId: 'billing', memberId, generationId }, broker)).errorCode)

  test('takes members, generation, assignment and offsets along; the old one says NOT_COORDINATOR', async () => {
    using lab = new GroupLab({ brokers: 2 })
    const { memberId, generation } = await lab.stable()
    await lab.commit(8, { memberId, generationIdOrMemberEpoch: generation })
    const former = lab.coordinatorOf('billing')
    lab.cluster.moveCoordinator('billing', 3 - former)
    expect(await heartbeat(lab, memberId, generation, former)).toBe('NOT_COORDINATOR')
    expect(await heartbeat(lab, memberId, generation)).toBe('NONE')
    expect((await lab.sync({ memberId, generation })).assignment.toString()).toBe('everything')
    expect(await lab.committed()).toEqual({ 'orders-0': 8 })
    expect(lab.groups.snapshot()).toMatchObject([{ state: 'Stable', coordinator: 3 - former }])
  })

  test('gives every member a whole session anew, and lets those go that do not come', async () => {
    using lab = new GroupLab({ brokers: 2 })
    const { memberId, generation } = await lab.stable()
    lab.clock.advance(9_000)
    lab.cluster.moveCoordinator('billing', 3 - lab.coordinatorOf('billing'))
    lab.clock.advance(9_000)
    expect(await heartbeat(lab, memberId, generation)).toBe('NONE')
    lab.clock.advance(10_001)
    expect(await heartbeat(lab, memberId, generation)).toBe('UNKNOWN_MEMBER_ID')
  })

  test('in the midst of a rebalance falls back to the last generation that was assigned, and who waits looks for the new one', async () => {
    using lab = new GroupLab({ brokers: 2 })
    const { memberId, generation } = await lab.stable()
    const newcomer = lab.join({}, 3)
    lab.cluster.moveCoordinator('billing', 3 - lab.coordinatorOf('billing'))
    expect(errorName((await newcomer).errorCode)).toBe('NOT_COORDINATOR')
    expect(await heartbeat(lab, memberId, generation)).toBe('NONE')
    expect(lab.groups.snapshot()[0]?.members).toHaveLength(1)
  })

  test('follows when a broker stops; groups of the others stay where they are', async () => {
    using lab = new GroupLab({ brokers: 3 })
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const groupId of names) await lab.commit(1, { groupId })
    const before = new Map(names.map((name) => [name, lab.coordinatorOf(name)]))
    expect(new Set(before.values()).size).toBe(3)
    lab.cluster.setAlive(2, false)
    for (const { group, coordinator } of lab.groups.snapshot())
      if (before.get(group) === 2) expect(coordinator).not.toBe(2)
      else expect(coordinator).toBe(before.get(group))
    lab.cluster.setAlive(1, false)
    lab.cluster.setAlive(3, false)
    lab.cluster.setAlive(3, true)
    expect(lab.groups.snapshot().map(({ group, coordinator }) => [group, coordinator])).toEqual(
      names.map((name) => [name, 3]),
    )
    expect(await lab.committed('a')).toEqual({ 'orders-0': 1 })
  })
})

test('the handle shows groups with members, assignments, offsets and lag', async () => {
  using lab = new GroupLab()
  const { memberId, generation } = await lab.stable()
  await lab.commit(0, { memberId, generationIdOrMemberEpoch: generation })
  expect(lab.groups.snapshot()).toEqual([
    {
      group: 'billing',
      state: 'Stable',
      protocolType: 'consumer',
      protocol: 'range',
      generation: 1,
      leader: memberId,
      coordinator: 1,
      members: [{ memberId, groupInstanceId: null, clientId: 'app', host: '127.0.0.1', assignment: [] }],
      offsets: [
        expect.objectContaining({ topic: 'orders', partition: 0, offset: 0, leaderEpoch: -1, metadata: '', lag: 0 }),
      ],
    },
  ])
})
