// JoinGroup, SyncGroup, Heartbeat and LeaveGroup as clients meet them: every version, by their bytes, with the clock that runs.
import { describe, expect, test } from 'vitest'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { JoinGroup } from '../../../src/protocol/messages/join-group.js'
import { LeaveGroup } from '../../../src/protocol/messages/leave-group.js'
import { SyncGroup } from '../../../src/protocol/messages/sync-group.js'
import { subscription } from './classic-events.js'
import { errorName, GroupLab, type Joined } from './group-lab.js'

const heartbeat = async (lab: GroupLab, { memberId, generation }: Joined, groupInstanceId: string | null = null) => {
  const request = { groupId: 'billing', memberId, generationId: generation, groupInstanceId }
  return errorName((await lab.ask(Heartbeat, 4, request)).errorCode)
}

const versionsOf = ({ stableVersions: { min, max } }: typeof JoinGroup | typeof SyncGroup | typeof LeaveGroup) =>
  Array.from({ length: max - min + 1 }, (_, at) => min + at)

describe('JoinGroup', () => {
  test.each(versionsOf(JoinGroup))(
    'version %i joins, and from 4 on by way of MEMBER_ID_REQUIRED (T58)',
    async (version) => {
      using lab = new GroupLab()
      let joined = await lab.join({}, version)
      expect(errorName(joined.errorCode)).toBe(version >= 4 ? 'MEMBER_ID_REQUIRED' : 'NONE')
      if (version >= 4) joined = await lab.join({ memberId: joined.memberId }, version)
      expect(joined).toMatchObject({
        errorCode: 0,
        generationId: 1,
        protocolName: 'range',
        leader: joined.memberId,
        skipAssignment: false,
      })
      expect(joined.protocolType).toBe(version >= 7 ? 'consumer' : null)
      expect(joined.members).toEqual([
        { memberId: joined.memberId, groupInstanceId: null, metadata: subscription('orders') },
      ])
      expect(joined.memberId).toMatch(/^app-[0-9a-f-]{36}$/)
    },
  )

  test.each(versionsOf(JoinGroup))(
    'version %i names no protocol in an error: empty up to 6, null from 7',
    async (version) => {
      using lab = new GroupLab()
      const refused = await lab.join({ groupId: '' }, version)
      expect(errorName(refused.errorCode)).toBe('INVALID_GROUP_ID')
      expect(refused).toMatchObject({
        generationId: -1,
        protocolName: version < 7 ? '' : null,
        leader: '',
        members: [],
      })
    },
  )

  test('session timeouts outside the broker’s limits are INVALID_SESSION_TIMEOUT', async () => {
    using lab = new GroupLab({ config: { 'group.max.session.timeout.ms': '20000' } })
    const errors = await Promise.all(
      [5_999, 20_001].map((sessionTimeoutMs) => lab.join({ sessionTimeoutMs, memberId: 'me' })),
    )
    expect(errors.map(({ errorCode, memberId }) => [errorName(errorCode), memberId])).toEqual([
      ['INVALID_SESSION_TIMEOUT', 'me'],
      ['INVALID_SESSION_TIMEOUT', 'me'],
    ])
    expect(errorName((await lab.join({ sessionTimeoutMs: 6_000 }, 3)).errorCode)).toBe('NONE')
  })

  test('a member id in a group that does not exist is UNKNOWN_MEMBER_ID, and makes no group', async () => {
    using lab = new GroupLab()
    expect(errorName((await lab.join({ memberId: 'old' })).errorCode)).toBe('UNKNOWN_MEMBER_ID')
    expect(lab.groups.snapshot()).toEqual([])
  })

  test('another broker than the coordinator is NOT_COORDINATOR', async () => {
    using lab = new GroupLab({ brokers: 2 })
    const other = 3 - lab.coordinatorOf('billing')
    expect(errorName((await lab.join({}, 9, other)).errorCode)).toBe('NOT_COORDINATOR')
  })

  test('T77 version 0 has its session timeout as its rebalance timeout', async () => {
    using lab = new GroupLab()
    const first = await lab.stable()
    const second = lab.join({ sessionTimeoutMs: 7_000 }, 0)
    const third = await lab.join({ memberId: first.memberId, rebalanceTimeoutMs: 7_000 }, 3)
    expect(third.generationId).toBe(2)
    const { memberId } = await second
    // Now it is the longest of the two timeouts that a silent member has: 7 s, not the 60 s that first asked for before.
    const fourth = lab.join(
      { memberId, sessionTimeoutMs: 7_000, protocols: [{ name: 'range', metadata: subscription('x') }] },
      0,
    )
    lab.clock.advance(7_001)
    expect((await fourth).generationId).toBe(3)
    expect((await fourth).members).toHaveLength(1)
  })

  test('the initial delay gathers members that start together into one generation', async () => {
    using lab = new GroupLab({ config: { 'group.initial.rebalance.delay.ms': '3000' } })
    const joins = [lab.join({}, 3), lab.join({}, 3), lab.join({}, 3)]
    lab.clock.advance(3_000)
    lab.clock.advance(3_000)
    const generations = (await Promise.all(joins)).map(({ generationId }) => generationId)
    expect(generations).toEqual([1, 1, 1])
  })

  test('group.max.size turns the next one away', async () => {
    using lab = new GroupLab({ config: { 'group.max.size': '1' } })
    await lab.stable()
    expect(errorName((await lab.join({}, 3)).errorCode)).toBe('GROUP_MAX_SIZE_REACHED')
  })
})

describe('SyncGroup', () => {
  test.each(versionsOf(SyncGroup))('version %i hands the assignment out', async (version) => {
    using lab = new GroupLab()
    const { memberId, generationId } = await lab.join({}, 3)
    const protocol = version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}
    const assignments = [{ memberId, assignment: Buffer.from('all') }]
    const synced = await lab.ask(SyncGroup, version, {
      groupId: 'billing',
      memberId,
      generationId,
      assignments,
      ...protocol,
    })
    expect(synced).toMatchObject({ errorCode: 0, protocolName: version >= 5 ? 'range' : null })
    expect(synced.assignment.toString()).toBe('all')
  })

  test('version 5 without type and name of the protocol is INCONSISTENT_GROUP_PROTOCOL', async () => {
    using lab = new GroupLab()
    const { memberId, generation } = await lab.stable()
    const request = { groupId: 'billing', memberId, generationId: generation, assignments: [] }
    expect(errorName((await lab.ask(SyncGroup, 5, request)).errorCode)).toBe('INCONSISTENT_GROUP_PROTOCOL')
    expect(
      errorName((await lab.ask(SyncGroup, 5, { ...request, protocolType: 'consumer', protocolName: 'x' })).errorCode),
    ).toBe('INCONSISTENT_GROUP_PROTOCOL')
  })

  test('in a group that does not exist is UNKNOWN_MEMBER_ID', async () => {
    using lab = new GroupLab()
    expect(errorName((await lab.sync({ memberId: 'me', generation: 1 })).errorCode)).toBe('UNKNOWN_MEMBER_ID')
  })
})

describe('Heartbeat', () => {
  test('B07 keeps a member for as long as it comes, and not one session longer', async () => {
    using lab = new GroupLab()
    const member = await lab.stable()
    for (let i = 0; i < 4; i++) {
      lab.clock.advance(9_000)
      expect(await heartbeat(lab, member)).toBe('NONE')
    }
    lab.clock.advance(10_001)
    expect(await heartbeat(lab, member)).toBe('UNKNOWN_MEMBER_ID')
    expect(lab.groups.snapshot()).toMatchObject([{ state: 'Empty', generation: 2, members: [] }])
  })

  test('T57 tells a past generation from a stranger, and an unknown group from an invalid one', async () => {
    using lab = new GroupLab()
    const member = await lab.stable()
    expect(await heartbeat(lab, { ...member, generation: 0 })).toBe('ILLEGAL_GENERATION')
    expect(await heartbeat(lab, { ...member, memberId: 'ghost' })).toBe('UNKNOWN_MEMBER_ID')
    const elsewhere = { groupId: 'none', memberId: 'x', generationId: 1 }
    expect(errorName((await lab.ask(Heartbeat, 0, elsewhere)).errorCode)).toBe('UNKNOWN_MEMBER_ID')
    expect(errorName((await lab.ask(Heartbeat, 0, { ...elsewhere, groupId: '' })).errorCode)).toBe('INVALID_GROUP_ID')
  })

  test('T56 REBALANCE_IN_PROGRESS tells the others that someone came', async () => {
    using lab = new GroupLab()
    const first = await lab.stable()
    const second = lab.join({}, 3)
    expect(await heartbeat(lab, first)).toBe('REBALANCE_IN_PROGRESS')
    const again = await lab.join({ memberId: first.memberId }, 3)
    expect(again.members).toHaveLength(2)
    expect((await second).generationId).toBe(2)
  })
})

describe('LeaveGroup', () => {
  test.each(versionsOf(LeaveGroup))('version %i empties the group at once', async (version) => {
    using lab = new GroupLab()
    const { memberId } = await lab.stable()
    const who = version < 3 ? { memberId } : { members: [{ memberId }] }
    const left = await lab.ask(LeaveGroup, version, { groupId: 'billing', ...who })
    expect(left.errorCode).toBe(0)
    expect(left.members).toEqual(version < 3 ? [] : [{ memberId, groupInstanceId: null, errorCode: 0 }])
    expect(lab.groups.snapshot()).toMatchObject([{ state: 'Empty', members: [] }])
  })

  test.each(versionsOf(LeaveGroup))(
    'version %i tells of an unknown member where the version has a place for it',
    async (version) => {
      using lab = new GroupLab()
      const who = version < 3 ? { memberId: 'ghost' } : { members: [{ memberId: 'ghost' }] }
      const inGroup = async () => {
        const { errorCode, members } = await lab.ask(LeaveGroup, version, { groupId: 'billing', ...who })
        return [errorCode, ...members.map((member) => member.errorCode)].map(errorName)
      }
      const expected = version < 3 ? ['UNKNOWN_MEMBER_ID'] : ['NONE', 'UNKNOWN_MEMBER_ID']
      expect(await inGroup()).toEqual(expected)
      await lab.stable()
      expect(await inGroup()).toEqual(expected)
    },
  )
})

describe('T69 static members', () => {
  test('a restart within the session is no rebalance, and the former one is fenced', async () => {
    using lab = new GroupLab()
    const first = await lab.join({ groupInstanceId: 'i1' })
    const former = { memberId: first.memberId, generation: first.generationId }
    await lab.sync(former, { [former.memberId]: 'mine' }, { groupInstanceId: 'i1' })
    const back = await lab.join({ groupInstanceId: 'i1' })
    expect(back).toMatchObject({ errorCode: 0, generationId: 1, skipAssignment: true, leader: back.memberId })
    expect(back.memberId).toMatch(/^i1-/)
    const synced = await lab.sync({ memberId: back.memberId, generation: 1 }, {}, { groupInstanceId: 'i1' })
    expect(synced.assignment.toString()).toBe('mine')
    expect(await heartbeat(lab, former, 'i1')).toBe('FENCED_INSTANCE_ID')
    expect(await heartbeat(lab, { memberId: back.memberId, generation: 1 }, 'i1')).toBe('NONE')
  })

  test('one that does not come back is out when its session is over', async () => {
    using lab = new GroupLab()
    await lab.stable()
    const second = lab.join({ groupInstanceId: 'i1' })
    lab.clock.advance(9_000)
    const [first] = lab.groups.snapshot()[0]?.members ?? []
    await lab.join({ memberId: first?.memberId ?? '' }, 9)
    await second
    lab.clock.advance(10_001)
    expect(lab.groups.snapshot()[0]).toMatchObject({ state: 'Empty', members: [] })
  })
})

test('18 two groups chained by the same clients do not see each other', async () => {
  using lab = new GroupLab()
  const [one, two] = await Promise.all([lab.stable(), lab.stable({ groupId: 'audit' })])
  const left = await lab.ask(LeaveGroup, 5, { groupId: 'audit', members: [{ memberId: two.memberId }] })
  expect(left.errorCode).toBe(0)
  expect(await heartbeat(lab, one)).toBe('NONE')
})

test('24 a member that comes back on a new connection after an idle one was closed finds its group as it was', async () => {
  using lab = new GroupLab()
  const member = await lab.stable({ sessionTimeoutMs: 1_800_000 })
  lab.clock.advance(600_000)
  expect(await heartbeat(lab, member)).toBe('NONE')
})
