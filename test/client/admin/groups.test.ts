import { describe, expect, test } from 'vitest'
import { startBroker } from '../../../src/broker/start-broker.js'
import { Admin } from '../../../src/client/admin/index.js'
import { ApiVersions } from '../../../src/protocol/messages/api-versions.js'
import { DescribeGroups } from '../../../src/protocol/messages/describe-groups.js'
import { errorCodes } from '../../../src/protocol/messages/error-table.js'
import { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { ListGroups } from '../../../src/protocol/messages/list-groups.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { FakeServer } from '../../helpers/fake-server.js'
import { until } from '../../helpers/until.js'
import { adminOf, countOf, fast, memberOf } from './admin-helpers.js'

const groupNamesOf = (groups: readonly { readonly group: string }[]) => groups.map(({ group }) => group)

/** A cluster of fake servers with ids 1, 2, …, that knows no topic. */
async function fakeCluster(size: number): Promise<FakeServer[]> {
  const servers = await Promise.all(Array.from({ length: size }, () => FakeServer.start()))
  const brokers = servers.map(({ port }, i) => ({ nodeId: i + 1, host: '127.0.0.1', port }))
  for (const server of servers) {
    server.on(Metadata, () => ({ brokers, clusterId: 'fake', controllerId: 1, topics: [] }))
    server.on(FindCoordinator, ({ coordinatorKeys }) => ({
      coordinators: coordinatorKeys.map((key) => ({ key, ...brokers[0]!, errorCode: 0, errorMessage: null })),
    }))
  }
  return servers
}

describe('listing groups', () => {
  test('T87 the groups of all brokers, by name, with their states', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { orders: 3 } })
    await using admin = adminOf(kafka)
    for (const [i, group] of ['c', 'a', 'b'].entries()) {
      await kafka.moveCoordinator(group, i + 1)
      await admin.setGroupOffsets(group, [{ topic: 'orders', partition: 0, offset: 0 }])
    }
    await using member = await memberOf(kafka, 'a')
    const { groups, unlisted } = await admin.listGroups()
    expect(unlisted).toEqual([])
    expect(groups).toEqual([
      { group: 'a', protocolType: 'consumer', state: 'Stable', type: 'classic', coordinatorId: 2 },
      { group: 'b', protocolType: '', state: 'Empty', type: 'classic', coordinatorId: 3 },
      { group: 'c', protocolType: '', state: 'Empty', type: 'classic', coordinatorId: 1 },
    ])
    expect(groupNamesOf((await admin.listGroups({ states: ['Stable'] })).groups)).toEqual(['a'])
    expect((await admin.listGroups({ types: ['consumer'] })).groups).toEqual([])
    expect(member.partitions()).toHaveLength(3)
  })

  test('T87 a broker is down and still in the metadata: the groups of the others, and its error', async () => {
    const [alive, dead] = (await fakeCluster(2)) as [FakeServer, FakeServer]
    await using _ = alive
    alive.on(ListGroups, () => ({ errorCode: 0, groups: [{ groupId: 'a', protocolType: 'consumer' }] }))
    const { address } = dead
    await dead.close()
    await using admin = new Admin({ brokers: [alive.address], ...fast })
    const { groups, unlisted } = await admin.listGroups()
    expect(groups.map(({ group, coordinatorId }) => [group, coordinatorId])).toEqual([['a', 1]])
    expect(unlisted).toMatchObject([{ nodeId: 2, address, error: { name: 'ConnectionError', retriable: true } }])
  })

  test('T87 a broker that refuses is named with its error, the others are listed', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    for (const [i, group] of ['a', 'b'].entries()) {
      await kafka.moveCoordinator(group, i + 1)
      await admin.setGroupOffsets(group, [{ topic: 'orders', partition: 0, offset: 0 }])
    }
    kafka.faults.add({ api: 'ListGroups', broker: 2, error: 'CLUSTER_AUTHORIZATION_FAILED' })
    const { groups, unlisted } = await admin.listGroups()
    expect(groupNamesOf(groups)).toEqual(['a'])
    expect(unlisted).toMatchObject([{ nodeId: 2, error: { name: 'AuthorizationError' } }])
  })

  test('T87 a coordinator that is loading is asked again', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await admin.setGroupOffsets('a', [{ topic: 'orders', partition: 0, offset: 0 }])
    const fault = kafka.faults.add({ api: 'ListGroups', times: 3, error: 'COORDINATOR_LOAD_IN_PROGRESS' })
    expect(groupNamesOf((await admin.listGroups()).groups)).toEqual(['a'])
    expect(fault.hits).toBe(3)
  })

  test('T87 a group that two brokers tell of while it moves is listed once', async () => {
    const [one, two] = (await fakeCluster(2)) as [FakeServer, FakeServer]
    await using _1 = one
    await using _2 = two
    for (const server of [one, two])
      server.on(ListGroups, () => ({
        errorCode: 0,
        groups: [{ groupId: 'a', protocolType: 'consumer', groupState: 'Stable', groupType: 'Classic' }],
      }))
    await using admin = new Admin({ brokers: [two.address], ...fast })
    expect(await admin.listGroups()).toEqual({
      groups: [{ group: 'a', protocolType: 'consumer', state: 'Stable', type: 'classic', coordinatorId: 1 }],
      unlisted: [],
    })
  })

  test('brokers that are too old for a filter are named, not taken for brokers without such groups', async () => {
    const [old] = (await fakeCluster(1)) as [FakeServer]
    await using _ = old
    old.on(ListGroups, () => ({ errorCode: 0, groups: [{ groupId: 'a', protocolType: 'consumer' }] }))
    old.on(ApiVersions, () => old.apiVersions({ ListGroups: 3 }))
    await using admin = new Admin({ brokers: [old.address], ...fast })
    expect((await admin.listGroups({ types: ['classic'] })).groups).toMatchObject([{ group: 'a', state: null }])
    expect(await admin.listGroups({ states: ['Stable'] })).toMatchObject({
      groups: [],
      unlisted: [{ nodeId: 1, error: { code: 'UNSUPPORTED_VERSION' } }],
    })
  })
})

describe('describing groups', () => {
  test('state, assignor, and the members with what they subscribe to and read', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 3 } })
    await using admin = adminOf(kafka)
    await using first = await memberOf(kafka, 'billing')
    await using second = await memberOf(kafka, 'billing', { instanceId: 'static-1' })
    await until('both members have partitions', () => first.partitions().length + second.partitions().length === 3)
    const group = await admin.describeGroup('billing')
    expect(group).toMatchObject({
      group: 'billing',
      state: 'Stable',
      type: 'classic',
      protocolType: 'consumer',
      assignor: 'range',
    })
    expect(kafka.groups()).toMatchObject([{ coordinator: group.coordinatorId }])
    const [one, other] = [...group.members].sort(
      (a, b) => Number(a.instanceId !== null) - Number(b.instanceId !== null),
    )
    expect(one).toMatchObject({
      memberId: expect.stringMatching(/^client of billing-/) as string,
      instanceId: null,
      clientId: 'client of billing',
      clientHost: '127.0.0.1',
      topics: ['orders'],
      partitions: first.partitions(),
    })
    expect(other).toMatchObject({ instanceId: 'static-1', partitions: second.partitions() })
  })

  test('groups of several coordinators, and one that is not there', async () => {
    await using kafka = await startBroker({ brokers: 3, topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    for (const [i, group] of ['a', 'b'].entries()) {
      await kafka.moveCoordinator(group, i + 1)
      await admin.setGroupOffsets(group, [{ topic: 'orders', partition: 0, offset: 0 }])
    }
    const [b, nothing, a] = await admin.describeGroups(['b', 'nothing', 'a'])
    expect(a).toMatchObject({ group: 'a', state: 'Empty', coordinatorId: 1, members: [], assignor: null })
    expect(b).toMatchObject({ group: 'b', state: 'Empty', coordinatorId: 2 })
    expect(nothing).toMatchObject({ group: 'nothing', error: { code: 'GROUP_ID_NOT_FOUND' } })
    await expect(admin.describeGroup('nothing')).rejects.toMatchObject({ code: 'GROUP_ID_NOT_FOUND' })
  })

  test('a coordinator that has moved is found again', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await kafka.moveCoordinator('a', 1)
    await admin.setGroupOffsets('a', [{ topic: 'orders', partition: 0, offset: 0 }])
    await kafka.moveCoordinator('a', 2)
    expect(await admin.describeGroup('a')).toMatchObject({ coordinatorId: 2 })
    await kafka.broker(2).kill()
    expect(await admin.describeGroup('a', { timeoutMs: 5000 })).toMatchObject({ coordinatorId: 1 })
  })

  test('T87 a group of the new protocol, which classic description does not know, is refused clearly', async () => {
    const [server] = (await fakeCluster(1)) as [FakeServer]
    await using _ = server
    server.on(DescribeGroups, ({ groups }, { version }) => ({
      groups: groups.map((groupId) => ({
        errorCode: version >= 6 ? errorCodes.GROUP_ID_NOT_FOUND : 0,
        errorMessage: version >= 6 ? `Group ${groupId} is not a classic group.` : undefined,
        groupId,
        groupState: 'Dead',
        protocolType: '',
        protocolData: '',
        members: [],
      })),
    }))
    server.on(ListGroups, () => ({
      errorCode: 0,
      groups: [{ groupId: 'modern', protocolType: 'consumer', groupState: 'Stable', groupType: 'Consumer' }],
    }))
    await using admin = new Admin({ brokers: [server.address], ...fast })
    const [modern, nothing] = await admin.describeGroups(['modern', 'nothing'])
    expect(modern).toMatchObject({ group: 'modern', error: { name: 'UsageError', code: 'NOT_SUPPORTED' } })
    expect(nothing).toMatchObject({ error: { code: 'GROUP_ID_NOT_FOUND' } })
    server.on(ApiVersions, () => server.apiVersions({ DescribeGroups: 5 }))
    await using second = new Admin({ brokers: [server.address], ...fast })
    await expect(second.describeGroup('modern')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })

  test('members that do not speak the consumer protocol do not spoil the description', async () => {
    const [server] = (await fakeCluster(1)) as [FakeServer]
    await using _ = server
    const member = { memberId: 'm', clientId: 'c', clientHost: '/10.0.0.1' }
    server.on(DescribeGroups, ({ groups }) => ({
      groups: groups.map((groupId) => ({
        errorCode: 0,
        groupId,
        groupState: 'Stable',
        protocolType: groupId === 'workers' ? 'connect' : 'consumer',
        protocolData: 'own',
        members: [{ ...member, memberMetadata: Buffer.from([9]), memberAssignment: Buffer.from([1, 2, 3]) }],
      })),
    }))
    await using admin = new Admin({ brokers: [server.address], ...fast })
    for (const { members } of await admin.describeGroups(['workers', 'strange'])) {
      expect(members).toEqual([
        { memberId: 'm', instanceId: null, clientId: 'c', clientHost: '10.0.0.1', topics: null, partitions: null },
      ])
    }
  })
})

describe('deleting groups', () => {
  test('T89 a group with members stays, with a clear error; others go', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await using member = await memberOf(kafka, 'active')
    await admin.setGroupOffsets('idle', [{ topic: 'orders', partition: 0, offset: 0 }])
    const results = await admin.deleteGroups(['active', 'idle', 'nothing'])
    expect(results.map(({ group, error, maybeDone }) => [group, error?.code, maybeDone])).toEqual([
      ['active', 'NON_EMPTY_GROUP', false],
      ['idle', undefined, false],
      ['nothing', 'GROUP_ID_NOT_FOUND', false],
    ])
    expect(results[0]!.error!.message).toBe(
      'deleting group active failed: NON_EMPTY_GROUP: it still has members; close them first (see describeGroup)',
    )
    await member.close()
    await admin.deleteGroup('active')
    expect(kafka.groups()).toEqual([])
    await expect(admin.deleteGroup('active')).rejects.toMatchObject({ code: 'GROUP_ID_NOT_FOUND' })
  })

  test('a deletion whose answer was lost tells that it may be its own', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await admin.setGroupOffsets('idle', [{ topic: 'orders', partition: 0, offset: 0 }])
    kafka.faults.add({ api: 'DeleteGroups', times: 1, disconnect: 'after' })
    expect(await admin.deleteGroups(['idle'])).toMatchObject([
      { group: 'idle', error: { code: 'GROUP_ID_NOT_FOUND' }, maybeDone: true },
    ])
  })

  test('a coordinator that is loading, or has moved, is tried again; one that never answers ends with the deadline', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await admin.setGroupOffsets('idle', [{ topic: 'orders', partition: 0, offset: 0 }])
    kafka.faults.add({ api: 'DeleteGroups', times: 2, error: 'NOT_COORDINATOR' })
    kafka.faults.add({ api: 'DeleteGroups', times: 2, error: 'COORDINATOR_LOAD_IN_PROGRESS' })
    await admin.deleteGroup('idle')
    expect(countOf(kafka, 'DeleteGroups')).toBe(5)
    kafka.faults.add({ api: 'DeleteGroups', error: 'COORDINATOR_NOT_AVAILABLE' })
    expect(await admin.deleteGroups(['other'], { timeoutMs: 100 })).toMatchObject([
      { error: { code: 'TIMEOUT', cause: { code: 'COORDINATOR_NOT_AVAILABLE' } }, maybeDone: false },
    ])
  })
})
