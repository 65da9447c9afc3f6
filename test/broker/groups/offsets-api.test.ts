// OffsetCommit, OffsetFetch and OffsetDelete as clients meet them, and how long commits live.
import { describe, expect, test } from 'vitest'
import { LeaveGroup } from '../../../src/protocol/messages/leave-group.js'
import { OffsetCommit } from '../../../src/protocol/messages/offset-commit.js'
import { OffsetDelete } from '../../../src/protocol/messages/offset-delete.js'
import { OffsetFetch } from '../../../src/protocol/messages/offset-fetch.js'
import type { AnyApi } from '../../../src/protocol/wire/index.js'
import { zeroUuid } from '../../../src/protocol/wire/index.js'
import { errorName, GroupLab, type Joined } from './group-lab.js'

const versionsOf = ({ stableVersions: { min, max } }: AnyApi) =>
  Array.from({ length: max - min + 1 }, (_, at) => min + at)
const day = 86_400_000
const asMember = ({ memberId, generation }: Joined) => ({ memberId, generationIdOrMemberEpoch: generation })

async function leave(lab: GroupLab, { memberId }: Joined, groupId = 'billing'): Promise<void> {
  await lab.ask(LeaveGroup, 5, { groupId, members: [{ memberId }] })
}

async function deleteOffset(lab: GroupLab, topic: string, partition = 0, groupId = 'billing'): Promise<string> {
  const topics = [{ name: topic, partitions: [{ partitionIndex: partition }] }]
  const { errorCode, topics: answered } = await lab.ask(OffsetDelete, 0, { groupId, topics })
  return errorName(errorCode === 0 ? answered[0]?.partitions[0]?.errorCode : errorCode)
}

describe('OffsetCommit', () => {
  test.each(versionsOf(OffsetCommit))(
    'version %i commits, with metadata and leader epoch that come back (10)',
    async (version) => {
      using lab = new GroupLab()
      const topicId = lab.cluster.topics.get('orders')?.id ?? ''
      const partitions = [
        { partitionIndex: 2, committedOffset: 42, committedLeaderEpoch: 5, committedMetadata: 'métadonnées' },
      ]
      const topics = [version < 10 ? { name: 'orders', partitions } : { topicId, partitions }]
      const answer = await lab.ask(OffsetCommit, version, { groupId: 'billing', memberId: '', topics })
      expect(answer.topics).toMatchObject([
        { ...(version < 10 ? { name: 'orders' } : { topicId }), partitions: [{ partitionIndex: 2, errorCode: 0 }] },
      ])
      const fetched = await lab.ask(OffsetFetch, 7, { groupId: 'billing', topics: null })
      expect(fetched.topics).toEqual([
        {
          name: 'orders',
          partitions: [
            {
              partitionIndex: 2,
              committedOffset: 42,
              committedLeaderEpoch: version < 6 ? -1 : 5,
              metadata: 'métadonnées',
              errorCode: 0,
            },
          ],
        },
      ])
    },
  )

  test('T79 too much metadata and an unknown partition fail alone, the rest is committed', async () => {
    using lab = new GroupLab({ config: { 'offset.metadata.max.bytes': '4' } })
    const partition = (partitionIndex: number, committedMetadata: string) => ({
      partitionIndex,
      committedOffset: 7,
      committedMetadata,
    })
    const topics = [
      { name: 'orders', partitions: [partition(0, 'four'), partition(1, 'fives'), partition(9, '')] },
      { name: 'nowhere', partitions: [partition(0, '')] },
    ]
    const answer = await lab.ask(OffsetCommit, 9, { groupId: 'billing', memberId: '', topics })
    expect(answer.topics.map(({ partitions }) => partitions.map(({ errorCode }) => errorName(errorCode)))).toEqual([
      ['NONE', 'OFFSET_METADATA_TOO_LARGE', 'UNKNOWN_TOPIC_OR_PARTITION'],
      ['UNKNOWN_TOPIC_OR_PARTITION'],
    ])
    expect(await lab.committed()).toEqual({ 'orders-0': 7 })
  })

  test('a topic id that is not known is UNKNOWN_TOPIC_ID', async () => {
    using lab = new GroupLab()
    const partitions = [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }]
    const answer = await lab.ask(OffsetCommit, 10, {
      groupId: 'billing',
      memberId: '',
      topics: [{ topicId: zeroUuid, partitions }],
    })
    expect(errorName(answer.topics[0]?.partitions[0]?.errorCode)).toBe('UNKNOWN_TOPIC_ID')
  })

  test('B08 from outside: taken while the group is empty, UNKNOWN_MEMBER_ID while it has members (T89)', async () => {
    using lab = new GroupLab()
    expect(await lab.commit(1)).toBe('NONE')
    const member = await lab.stable()
    expect(await lab.commit(2)).toBe('UNKNOWN_MEMBER_ID')
    expect(await lab.commit(3, asMember(member))).toBe('NONE')
    await leave(lab, member)
    expect(await lab.commit(4)).toBe('NONE')
    expect(await lab.committed()).toEqual({ 'orders-0': 4 })
  })

  test('B08 T56 of a member: taken with the old generation while members join, REBALANCE_IN_PROGRESS while the leader assigns', async () => {
    using lab = new GroupLab()
    const first = await lab.stable()
    const second = lab.join({}, 3)
    expect(await lab.commit(5, asMember(first))).toBe('NONE')
    const again = await lab.join({ memberId: first.memberId }, 3)
    expect(await lab.commit(6, { memberId: first.memberId, generationIdOrMemberEpoch: again.generationId })).toBe(
      'REBALANCE_IN_PROGRESS',
    )
    expect(await lab.commit(7, asMember(first))).toBe('ILLEGAL_GENERATION')
    expect(await lab.committed()).toEqual({ 'orders-0': 5 })
    await second
  })

  test('with a generation for a group that is not there: ILLEGAL_GENERATION up to version 8, GROUP_ID_NOT_FOUND from 9', async () => {
    using lab = new GroupLab()
    const stranger = { memberId: 'me', generationIdOrMemberEpoch: 3 }
    expect(await lab.commit(1, stranger, 8)).toBe('ILLEGAL_GENERATION')
    expect(await lab.commit(1, stranger, 9)).toBe('GROUP_ID_NOT_FOUND')
    expect(lab.groups.snapshot()).toEqual([])
  })

  test('to another broker than the coordinator is NOT_COORDINATOR', async () => {
    using lab = new GroupLab({ brokers: 2 })
    const topics = [
      { name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }] },
    ]
    const other = 3 - lab.coordinatorOf('billing')
    const answer = await lab.ask(OffsetCommit, 9, { groupId: 'billing', memberId: '', topics }, other)
    expect(errorName(answer.topics[0]?.partitions[0]?.errorCode)).toBe('NOT_COORDINATOR')
  })

  test('keeps the session of a member that heartbeats late', async () => {
    using lab = new GroupLab()
    const member = await lab.stable()
    for (let i = 0; i < 3; i++) {
      lab.clock.advance(8_000)
      expect(await lab.commit(i, asMember(member))).toBe('NONE')
    }
  })
})

describe('OffsetFetch', () => {
  test.each(versionsOf(OffsetFetch))(
    'version %i gives what is committed, and -1 without an error for the rest',
    async (version) => {
      using lab = new GroupLab()
      await lab.commit(42)
      const topicId = lab.cluster.topics.get('orders')?.id ?? ''
      const named = version < 10 ? { name: 'orders' } : { topicId }
      const topics = [{ ...named, partitionIndexes: [0, 1] }]
      const answer =
        version < 8
          ? await lab.ask(OffsetFetch, version, {
              groupId: 'billing',
              topics: [{ name: 'orders', partitionIndexes: [0, 1] }],
            })
          : await lab.ask(OffsetFetch, version, { groups: [{ groupId: 'billing', topics }], requireStable: true }, 1)
      const answered = version < 8 ? answer.topics : (answer.groups[0]?.topics ?? [])
      expect(answered).toMatchObject([
        {
          ...named,
          partitions: [
            { partitionIndex: 0, committedOffset: 42, committedLeaderEpoch: -1, metadata: '', errorCode: 0 },
            { partitionIndex: 1, committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode: 0 },
          ],
        },
      ])
    },
  )

  test('B09 null asks for all topics, an unknown group has none, and several groups are answered one by one', async () => {
    using lab = new GroupLab()
    await lab.commit(42)
    const groups = ['billing', 'nobody'].map((groupId) => ({ groupId, topics: null }))
    const byName = await lab.ask(OffsetFetch, 8, { groups }, 1)
    expect(
      byName.groups.map(({ groupId, errorCode, topics }) => [groupId, errorCode, topics.map(({ name }) => name)]),
    ).toEqual([
      ['billing', 0, ['orders']],
      ['nobody', 0, []],
    ])
    const byId = await lab.ask(OffsetFetch, 10, { groups }, 1)
    expect(byId.groups[0]?.topics.map(({ topicId }) => topicId)).toEqual([lab.cluster.topics.get('orders')?.id])
  })

  test('a topic id that is not known is UNKNOWN_TOPIC_ID, with no offset', async () => {
    using lab = new GroupLab()
    const groups = [{ groupId: 'billing', topics: [{ topicId: zeroUuid, partitionIndexes: [0] }] }]
    const answer = await lab.ask(OffsetFetch, 10, { groups }, 1)
    expect(answer.groups[0]?.topics[0]?.partitions).toMatchObject([{ committedOffset: -1, errorCode: 100 }])
  })

  test.each([1, 2, 7, 8])('version %i tells of NOT_COORDINATOR where it has a place for it', async (version) => {
    using lab = new GroupLab({ brokers: 2 })
    const topics = [{ name: 'orders', partitionIndexes: [0] }]
    const request = version < 8 ? { groupId: 'billing', topics } : { groups: [{ groupId: 'billing', topics }] }
    const answer = await lab.ask(OffsetFetch, version, request, 3 - lab.coordinatorOf('billing'))
    const code =
      version < 2
        ? answer.topics[0]?.partitions[0]?.errorCode
        : version < 8
          ? answer.errorCode
          : answer.groups[0]?.errorCode
    expect(errorName(code)).toBe('NOT_COORDINATOR')
  })
})

describe('OffsetDelete', () => {
  test('T89 offsets of a topic in use stay, others go', async () => {
    using lab = new GroupLab()
    const partitions = [{ partitionIndex: 0, committedOffset: 5, committedMetadata: null }]
    await lab.ask(OffsetCommit, 9, {
      groupId: 'billing',
      memberId: '',
      topics: ['orders', 'payments'].map((name) => ({ name, partitions })),
    })
    const member = await lab.stable()
    expect(await deleteOffset(lab, 'orders')).toBe('GROUP_SUBSCRIBED_TO_TOPIC')
    expect(await deleteOffset(lab, 'payments')).toBe('NONE')
    expect(await deleteOffset(lab, 'payments', 7)).toBe('UNKNOWN_TOPIC_OR_PARTITION')
    expect(await lab.committed()).toEqual({ 'orders-0': 5 })
    await leave(lab, member)
    expect(await deleteOffset(lab, 'orders')).toBe('NONE')
    expect(await lab.committed()).toEqual({})
  })

  test('of a group of another kind only when it is empty, of none at all GROUP_ID_NOT_FOUND', async () => {
    using lab = new GroupLab()
    await lab.stable({ protocolType: 'connect' })
    expect(await deleteOffset(lab, 'orders')).toBe('NON_EMPTY_GROUP')
    expect(await deleteOffset(lab, 'orders', 0, 'nobody')).toBe('GROUP_ID_NOT_FOUND')
    expect(await deleteOffset(lab, 'orders', 0, '')).toBe('INVALID_GROUP_ID')
  })
})

describe('B09 retention', () => {
  test('a group that stays empty loses its offsets, and itself, when offsets.retention.minutes are over', async () => {
    using lab = new GroupLab()
    const member = await lab.stable()
    expect(await lab.commit(5, asMember(member))).toBe('NONE')
    lab.clock.advance(30 * day) // the session ends, the group is empty from now on, whenever the commit was
    lab.clock.advance(6 * day)
    expect(await lab.committed()).toEqual({ 'orders-0': 5 })
    lab.clock.advance(day)
    expect(lab.groups.snapshot()).toEqual([])
  })

  test('commits without a group expire each on its own', async () => {
    using lab = new GroupLab({ config: { 'offsets.retention.minutes': '60' } })
    await lab.commit(1)
    lab.clock.advance(40 * 60_000)
    const partitions = [{ partitionIndex: 1, committedOffset: 2, committedMetadata: null }]
    await lab.ask(OffsetCommit, 9, { groupId: 'billing', memberId: '', topics: [{ name: 'orders', partitions }] })
    lab.clock.advance(25 * 60_000)
    expect(await lab.committed()).toEqual({ 'orders-1': 2 })
  })

  test('an active group keeps what it subscribes to, however old, and loses the rest', async () => {
    using lab = new GroupLab()
    const partitions = [{ partitionIndex: 0, committedOffset: 5, committedMetadata: null }]
    await lab.ask(OffsetCommit, 9, {
      groupId: 'billing',
      memberId: '',
      topics: ['orders', 'payments'].map((name) => ({ name, partitions })),
    })
    await lab.stable({ sessionTimeoutMs: 1_800_000 })
    const [member] = lab.groups.snapshot()[0]?.members ?? []
    for (let minutes = 0; minutes < 8 * 24 * 60; minutes += 29) {
      lab.clock.advance(29 * 60_000)
      await lab.commit(6, { memberId: member?.memberId ?? '', generationIdOrMemberEpoch: 1 })
    }
    expect(await lab.committed()).toEqual({ 'orders-0': 6 })
  })

  test('a client of before Kafka 2.1 names its own retention', async () => {
    using lab = new GroupLab()
    await lab.commit(1, { retentionTimeMs: 5_000 }, 4)
    lab.clock.advance(600_000)
    expect(lab.groups.snapshot()).toEqual([])
  })

  test('a deleted topic takes its offsets along', async () => {
    using lab = new GroupLab()
    await lab.commit(5)
    const orders = lab.cluster.topics.get('orders')
    if (orders) lab.cluster.deleteTopic(orders)
    lab.cluster.createTopic('orders', 3, new Map())
    expect(await lab.committed()).toEqual({})
  })
})
