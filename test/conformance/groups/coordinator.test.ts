// What a group coordinator answers, request by request, on both kinds of broker. The transcripts in test/fixtures/groups are recorded
// from Apache Kafka 4.4 (`OTTLA_KAFKA=1 npx vitest run --project conformance-kafka test/conformance/groups -u`), never from ours.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { startBroker } from '../../../src/broker/start-broker.js'
import { DeleteGroups } from '../../../src/protocol/messages/delete-groups.js'
import { DescribeGroups } from '../../../src/protocol/messages/describe-groups.js'
import { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { JoinGroup } from '../../../src/protocol/messages/join-group.js'
import { LeaveGroup } from '../../../src/protocol/messages/leave-group.js'
import { OffsetDelete } from '../../../src/protocol/messages/offset-delete.js'
import { OffsetFetch } from '../../../src/protocol/messages/offset-fetch.js'
import { SyncGroup } from '../../../src/protocol/messages/sync-group.js'
import type { AnyApi } from '../../../src/protocol/wire/index.js'
import { attachApacheKafka } from '../../helpers/apache-kafka.js'
import { GroupProbe, type Who } from './group-probe.js'

let brokers: readonly string[] = []
let close = (): Promise<void> => Promise.resolve()

beforeAll(async () => {
  if (process.env['OTTLA_KAFKA'] !== 'embedded') {
    brokers = attachApacheKafka(inject('apacheKafka')).brokers
    return
  }
  const kafka = await startBroker({ config: { 'group.min.session.timeout.ms': 1_000 } })
  brokers = kafka.brokers
  close = () => kafka.close()
})

afterAll(() => close())

const versionsOf = ({ stableVersions: { min, max } }: AnyApi) =>
  Array.from({ length: max - min + 1 }, (_, at) => min + at)
const unknownId = 'AAAAAAAAAAAAAAAAAAAAAQ'

const scenarios: Readonly<Record<string, (probe: GroupProbe) => Promise<void>>> = {
  async 'what is invalid or unknown'(probe) {
    const groupId = probe.group
    for (const v of versionsOf(JoinGroup)) {
      probe.say(`join v${v} without a group`, await probe.join({ groupId: '' }, v))
      probe.say(`join v${v} with a session of 1 ms`, await probe.join({ sessionTimeoutMs: 1 }, v))
      probe.say(`join v${v} with an unknown id`, await probe.join({ memberId: 'ghost' }, v))
    }
    for (const v of versionsOf(SyncGroup))
      probe.say(`sync v${v}`, await probe.sync({ memberId: 'ghost', generationId: 1 }, {}, v))
    probe.say(
      'sync v5 without a protocol',
      await probe.sync({ memberId: 'x', generationId: 1 }, { protocolName: null }),
    )
    for (const v of versionsOf(LeaveGroup)) {
      const who =
        v < 3 ? { memberId: 'ghost' } : { members: [{ memberId: 'ghost' }, { memberId: '', groupInstanceId: 'i' }] }
      await probe.ask(`leave v${v}`, LeaveGroup, v, { groupId, ...who })
      await probe.ask(`leave v${v} without a group`, LeaveGroup, v, { groupId: '', ...who })
    }
    await probe.ask('heartbeat', Heartbeat, 4, { groupId, memberId: 'ghost', generationId: 1 })
    await probe.ask('heartbeat without a group', Heartbeat, 4, { groupId: '', memberId: 'ghost', generationId: 1 })
    for (const v of versionsOf(DescribeGroups))
      await probe.ask(`describe v${v}`, DescribeGroups, v, { groups: [groupId] })
    const operations = { groups: [groupId], includeAuthorizedOperations: true }
    await probe.ask('describe with operations', DescribeGroups, 6, operations)
    for (const v of versionsOf(DeleteGroups))
      await probe.ask(`delete v${v}`, DeleteGroups, v, { groupsNames: [groupId, groupId] })
    const topics = [{ name: probe.topic('orders'), partitions: [{ partitionIndex: 0 }] }]
    await probe.ask('delete offsets', OffsetDelete, 0, { groupId, topics })
    await probe.ask('delete offsets without a group', OffsetDelete, 0, { groupId: '', topics })
    for (const v of [2, 8, 9]) {
      const stranger = { memberId: 'ghost', generationIdOrMemberEpoch: 3 }
      probe.say(`commit v${v} with a generation`, await probe.commit(stranger, v))
    }
    for (const v of versionsOf(FindCoordinator))
      await probe.ask(`find v${v}`, FindCoordinator, v, v < 4 ? { key: groupId } : { coordinatorKeys: [groupId] })
    for (const protocols of [[], [{ name: 'range', metadata: Buffer.of() }]])
      probe.say(
        'join without protocols or type',
        await probe.join({ protocols, protocolType: protocols.length > 0 ? '' : 'consumer' }),
      )
    await probe.inState('Empty')
    probe.say('list after refused joins', await probe.list())
  },

  async 'offsets without members'(probe) {
    const groupId = probe.group
    const orders = probe.topic('orders')
    const fetchAll = async (v: number) => {
      const request = v < 8 ? { groupId, topics: null } : { groups: [{ groupId, topics: null }] }
      return probe.ask(`fetch all v${v}`, OffsetFetch, v, request)
    }
    const fetchSome = async (v: number) => {
      const named = [
        { name: orders, topicId: probe.topicIds.get('orders') ?? '', partitionIndexes: [0, 2, 9] },
        { name: 'nowhere', topicId: unknownId, partitionIndexes: [0] },
      ].map(({ name, topicId, partitionIndexes }) => ({ ...(v < 10 ? { name } : { topicId }), partitionIndexes }))
      const old = [
        { name: orders, partitionIndexes: [0, 2, 9] },
        { name: 'nowhere', partitionIndexes: [0] },
      ]
      return probe.ask(
        `fetch some v${v}`,
        OffsetFetch,
        v,
        v < 8 ? { groupId, topics: old } : { groups: [{ groupId, topics: named }] },
      )
    }
    for (const v of [1, 2, 5, 7, 8, 9, 10]) await fetchSome(v)
    for (const v of [2, 7, 8, 10]) await fetchAll(v)
    for (const v of [2, 3, 4, 5, 6, 7, 8, 9, 10]) probe.say(`commit v${v}`, await probe.commit({}, v))
    const partition = (partitionIndex: number, committedMetadata: string | null) => ({
      partitionIndex,
      committedOffset: 7,
      committedLeaderEpoch: 3,
      committedMetadata,
    })
    const long = (length: number) => 'x'.repeat(length)
    const mixed = [
      { name: orders, partitions: [partition(1, 'text'), partition(2, long(4_097)), partition(7, '')] },
      { name: 'nowhere', partitions: [partition(0, '')] },
    ]
    probe.say('commit to some that fail', await probe.commit({ topics: mixed }))
    probe.say(
      'commit by an unknown id',
      await probe.commit({ topics: [{ topicId: unknownId, partitions: [partition(0, '')] }] }, 10),
    )
    probe.say('commit of nothing', await probe.commit({ topics: [] }))
    for (const v of [1, 2, 5, 7, 8, 9, 10]) await fetchSome(v)
    for (const v of [2, 7, 8, 10]) await fetchAll(v)
    for (const v of [0, 3, 4, 5]) probe.say(`list v${v}`, await probe.list({}, v))
    await probe.ask('describe', DescribeGroups, 6, { groups: [groupId], includeAuthorizedOperations: true })
    for (const name of [orders, 'nowhere', orders])
      await probe.ask('delete offset', OffsetDelete, 0, {
        groupId,
        topics: [{ name, partitions: [{ partitionIndex: 0 }] }],
      })
    await fetchAll(9)
    await probe.ask('delete', DeleteGroups, 2, { groupsNames: [groupId] })
    await fetchAll(9)
    probe.say('list', await probe.list())
  },

  async 'pending members'(probe) {
    const { memberId } = probe.say('join', await probe.join())
    const pending = { memberId, generationId: 0 }
    await probe.inState('Empty')
    await probe.ask('describe', DescribeGroups, 6, { groups: [probe.group] })
    probe.say('heartbeat', await probe.heartbeat(pending))
    probe.say('sync', await probe.sync(pending))
    probe.say('join as a static member', await probe.join({ memberId, groupInstanceId: 'i1' }))
    probe.say('leave', await probe.leave({ memberId }))
    probe.say('join after leaving', await probe.join({ memberId }))
    const second = probe.say('join', await probe.join())
    const joined = probe.say('join with the id', await probe.join({ memberId: second.memberId }))
    probe.say(
      'sync',
      await probe.sync(joined, { assignments: [{ memberId: joined.memberId, assignment: Buffer.from('A') }] }),
    )
  },

  ...Object.fromEntries(
    [0, 1, 2, 3].map((v) => [`the life of a group with JoinGroup v${v}`, (probe: GroupProbe) => life(probe, v)]),
  ),

  async 'static members'(probe) {
    const instance = { groupInstanceId: 'i1' }
    const first = probe.say('join', await probe.join(instance))
    const assignments = [{ memberId: first.memberId, assignment: Buffer.from('A') }]
    probe.say('sync', await probe.sync(first, { ...instance, assignments }))
    const second = probe.say('back by v9', await probe.join(instance, 9))
    probe.say('sync', await probe.sync(second, instance))
    const third = probe.say('back by v8', await probe.join(instance, 8))
    probe.say('former heartbeat', await probe.heartbeat(first, 'i1'))
    probe.say('former heartbeat without instance', await probe.heartbeat(first))
    probe.say('former sync', await probe.sync(first, instance))
    probe.say(
      'former commit',
      await probe.commit({ ...instance, memberId: first.memberId, generationIdOrMemberEpoch: 1 }),
    )
    probe.say('former join', await probe.join({ ...instance, memberId: first.memberId }))
    probe.say('heartbeat', await probe.heartbeat(third, 'i1'))
    probe.say('heartbeat without instance', await probe.heartbeat(third))
    probe.say('heartbeat of another instance', await probe.heartbeat(third, 'i2'))
    await probe.inState('Stable')
    await probe.ask('describe', DescribeGroups, 6, { groups: [probe.group] })
    probe.say(
      'leave',
      await probe.leave(
        { memberId: first.memberId, ...instance },
        { memberId: '', groupInstanceId: 'i2' },
        { memberId: '' },
      ),
    )
    probe.say('leave by instance', await probe.leave({ memberId: '', ...instance }))
    await probe.inState('Empty')
    await probe.ask('describe', DescribeGroups, 6, { groups: [probe.group] })
  },

  async 'a group that is not of consumers'(probe) {
    const topics = [{ name: probe.topic('orders'), partitions: [{ partitionIndex: 0 }] }]
    const { memberId } = await probe.stable({
      protocolType: 'connect',
      protocols: [{ name: 'default', metadata: Buffer.from('zz') }],
    })
    await probe.ask('delete offsets', OffsetDelete, 0, { groupId: probe.group, topics })
    probe.say('list', await probe.list())
    probe.say('leave', await probe.leave({ memberId }))
    await probe.ask('delete offsets when empty', OffsetDelete, 0, { groupId: probe.group, topics })
    await probe.inState('Empty')
    await probe.ask('describe when empty', DescribeGroups, 6, { groups: [probe.group] })
    const consumer = probe.say('join of a consumer', await probe.join({}, 3))
    probe.say('leave', await probe.leave({ memberId: consumer.memberId }))
  },

  async 'members that fall silent'(probe) {
    const silent = await probe.stable({ sessionTimeoutMs: 1_000 })
    await probe.inState('Empty')
    await probe.ask('describe', DescribeGroups, 6, { groups: [probe.group] })
    probe.say('heartbeat', await probe.heartbeat(silent))
    const first = await probe.stable({ rebalanceTimeoutMs: 1_000 })
    const second = await probe.join({ rebalanceTimeoutMs: 1_000 }, 3) // waits until first's time is over
    probe.say('join', second)
    probe.say('heartbeat of who did not join again', await probe.heartbeat(first))
  },
}

/** From the first member over a rebalance to the empty group, with every request that has something to say in each state. */
async function life(probe: GroupProbe, v: number): Promise<void> {
  const groupId = probe.group
  const describeGroup = (label: string, version = 6) =>
    probe.ask(`describe ${label}`, DescribeGroups, version, { groups: [groupId] })
  const commitAs = ({ memberId, generationId }: Who, more = {}) =>
    probe.commit({ memberId, generationIdOrMemberEpoch: generationId, ...more })
  const deleteOffsets = (name: string) =>
    probe.ask('delete offsets', OffsetDelete, 0, { groupId, topics: [{ name, partitions: [{ partitionIndex: 0 }] }] })
  const part = ({ memberId }: Who, text: string) => ({ memberId, assignment: Buffer.from(text) })

  const first = probe.say('first joins', await probe.join({}, v))
  await probe.inState('CompletingRebalance')
  await describeGroup('completing')
  probe.say('commit', await commitAs(first))
  probe.say('commit from outside', await probe.commit())
  probe.say('heartbeat', await probe.heartbeat(first))
  await deleteOffsets(probe.topic('orders'))
  await probe.ask('delete', DeleteGroups, 3, { groupsNames: [groupId] })
  probe.say('sync of another generation', await probe.sync({ ...first, generationId: first.generationId + 1 }))
  probe.say('sync of another type', await probe.sync(first, { protocolType: 'x' }))
  probe.say('sync of another protocol', await probe.sync(first, { protocolName: 'x' }))
  const synced = { assignments: [part(first, 'A'), part({ ...first, memberId: 'nobody' }, 'B')] }
  probe.say('sync', await probe.sync(first, synced, [0, 3, 4, 5][v]))

  await probe.inState('Stable')
  await describeGroup('stable', v + 3)
  await describeGroup('stable', 0)
  probe.say('list', await probe.list({}, v + 2))
  probe.say('heartbeat', await probe.heartbeat(first))
  probe.say('heartbeat of a past generation', await probe.heartbeat({ ...first, generationId: 0 }))
  probe.say('heartbeat of a stranger', await probe.heartbeat({ ...first, memberId: 'ghost' }))
  probe.say('commit', await commitAs(first))
  probe.say('commit from outside', await probe.commit())
  probe.say('commit without a generation', await commitAs({ ...first, generationId: -1 }))
  probe.say('commit of a past generation', await commitAs({ ...first, generationId: 0 }))
  probe.say('commit of a stranger', await commitAs({ ...first, memberId: 'ghost' }))
  await deleteOffsets(probe.topic('orders'))
  await deleteOffsets(probe.topic('payments'))
  await probe.ask('delete', DeleteGroups, 3, { groupsNames: [groupId] })
  probe.say('join of another type', await probe.join({ protocolType: 'connect' }))
  probe.say('join of another protocol', await probe.join({ protocols: [{ name: 'sticky', metadata: Buffer.of() }] }))

  const waiting = probe.join({}, v, true)
  await probe.inState('PreparingRebalance')
  probe.say('heartbeat while the second joins', await probe.heartbeat(first))
  probe.say('sync while the second joins', await probe.sync(first))
  probe.say('commit while the second joins', await commitAs(first))
  probe.say('commit from outside while the second joins', await probe.commit())
  const again = await probe.join({ memberId: first.memberId }, v)
  const second = probe.say('second joins', await waiting)
  probe.say('first joins again', { ...again, members: again.members.length })
  const follower = probe.sync(second, {}, 4, true)
  probe.say('first lost the answer', { ...(await probe.join({ memberId: first.memberId }, v)), members: 'as before' })
  const leader = await probe.sync(again, { assignments: [part(again, 'A'), part(second, 'B')] })
  probe.say('leader syncs', leader)
  probe.say('follower synced', await follower)
  probe.say('follower joins again unchanged', await probe.join({ memberId: second.memberId }, v))
  await probe.inState('Stable')
  await describeGroup('of two')
  const wrongInstance = { memberId: second.memberId, groupInstanceId: 'nope' }
  probe.say('leave', await probe.leave(wrongInstance, { memberId: first.memberId }, { memberId: second.memberId }))

  await probe.inState('Empty')
  await describeGroup('empty')
  probe.say('list the empty', await probe.list({ statesFilter: ['EMPTY'] }))
  probe.say('list consumer groups', await probe.list({ typesFilter: ['Consumer'] }))
  probe.say('list an unknown state', await probe.list({ statesFilter: ['nonsense'] }))
  probe.say('commit', await commitAs({ ...first, generationId: again.generationId + 1 }))
  probe.say('commit from outside', await probe.commit())
  probe.say('heartbeat', await probe.heartbeat(again))
  probe.say('sync', await probe.sync(again))
  probe.say('join with the old id', await probe.join({ memberId: first.memberId }))
}

describe('a group coordinator answers as Apache Kafka does', () => {
  test.each(Object.entries(scenarios))('%s', async (name, scenario) => {
    using probe = await GroupProbe.open(brokers)
    await scenario(probe)
    const file = `../../fixtures/groups/${name.toLowerCase().replaceAll(' ', '-')}.txt`
    await expect(`${probe.lines.join('\n')}\n`).toMatchFileSnapshot(file)
  })
})
