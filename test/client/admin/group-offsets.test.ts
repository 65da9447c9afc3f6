import { describe, expect, test } from 'vitest'
import { startBroker } from '../../../src/broker/start-broker.js'
import { topic } from '../../../src/client/serde/index.js'
import { adminOf, countOf, fill, memberOf } from './admin-helpers.js'

const at = (partition: number, name = 'orders') => ({ topic: name, partition })

describe('offsets of a group', () => {
  test('what was set is read, and is where members begin', async () => {
    await using kafka = await startBroker({ topics: { orders: 2, other: 1 } })
    await using admin = adminOf(kafka)
    await fill(kafka, 10)
    const results = await admin.setGroupOffsets('billing', [
      { ...at(0), offset: 7, metadata: 'by hand', leaderEpoch: 0 },
      { topic: topic('other'), partition: 0, offset: 0 },
      { ...at(9), offset: 1 },
    ])
    expect(results.map(({ topic, partition, offset, error }) => [topic, partition, offset, error?.code])).toEqual([
      ['orders', 0, 7, undefined],
      ['other', 0, 0, undefined],
      ['orders', 9, 1, 'UNKNOWN_TOPIC_OR_PARTITION'],
    ])
    const done = { error: undefined, maybeDone: false }
    expect(await admin.listGroupOffsets('billing')).toEqual([
      { ...at(0), offset: 7, leaderEpoch: 0, metadata: 'by hand', ...done },
      { ...at(0, 'other'), offset: 0, leaderEpoch: null, metadata: '', ...done },
    ])
    await using member = await memberOf(kafka, 'billing', { commit: 'manual' })
    for await (const record of member) {
      expect(record.offset).toBe(7)
      break
    }
  })

  test('of the partitions asked for, those without a commit are null', async () => {
    await using kafka = await startBroker({ topics: { orders: 2 } })
    await using admin = adminOf(kafka)
    await admin.setGroupOffsets('billing', [{ ...at(1), offset: 3 }])
    const offsets = await admin.listGroupOffsets('billing', { partitions: [at(1), at(0)] })
    expect(offsets.map(({ partition, offset }) => [partition, offset])).toEqual([
      [1, 3],
      [0, null],
    ])
    expect(await admin.listGroupOffsets('nothing')).toEqual([])
    expect(await admin.listGroupOffsets('nothing', { partitions: [at(0)] })).toMatchObject([{ offset: null }])
    expect(await admin.listGroupOffsets('billing', { partitions: [] })).toEqual([])
  })

  test('T89 offsets of a group with members cannot be set: UNKNOWN_MEMBER_ID, and why', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await using member = await memberOf(kafka, 'active')
    const [result] = await admin.setGroupOffsets('active', [{ ...at(0), offset: 0 }])
    expect(result!.error).toMatchObject({
      code: 'UNKNOWN_MEMBER_ID',
      retriable: false,
      message:
        'setting offsets of group active failed for orders-0: UNKNOWN_MEMBER_ID: the group has members; offsets can be set from outside only when all are closed',
    })
    await member.close()
    expect(await admin.setGroupOffsets('active', [{ ...at(0), offset: 0 }])).toMatchObject([{ error: undefined }])
  })

  test('T89 offsets of a topic that members subscribe to cannot be deleted, those of others can', async () => {
    await using kafka = await startBroker({ topics: { orders: 1, other: 1 } })
    await using admin = adminOf(kafka)
    await admin.setGroupOffsets('active', [
      { ...at(0), offset: 0 },
      { ...at(0, 'other'), offset: 0 },
    ])
    await using member = await memberOf(kafka, 'active')
    const results = await admin.deleteGroupOffsets('active', [at(0), at(0, 'other'), at(5)])
    expect(results.map(({ topic, partition, error }) => [topic, partition, error?.code])).toEqual([
      ['orders', 0, 'GROUP_SUBSCRIBED_TO_TOPIC'],
      ['other', 0, undefined],
      ['orders', 5, 'UNKNOWN_TOPIC_OR_PARTITION'],
    ])
    expect(results[0]!.error!.message).toContain('close them first')
    expect((await admin.listGroupOffsets('active')).map(({ topic }) => topic)).toEqual(['orders'])
    await member.close()
    await admin.deleteGroupOffsets('active', [at(0)])
    expect(await admin.listGroupOffsets('active')).toEqual([])
  })

  test('T89 what concerns the whole group is thrown', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await expect(admin.deleteGroupOffsets('nothing', [at(0)])).rejects.toMatchObject({ code: 'GROUP_ID_NOT_FOUND' })
    const denied = kafka.faults.add({ api: 'OffsetFetch', error: 'GROUP_AUTHORIZATION_FAILED' })
    await expect(admin.listGroupOffsets('any')).rejects.toMatchObject({ name: 'AuthorizationError' })
    denied.remove()
    kafka.faults.add({ api: 'OffsetDelete', error: 'NON_EMPTY_GROUP' })
    await expect(admin.deleteGroupOffsets('any', [at(0)])).rejects.toThrow('does not tell which topics they use')
  })

  test('a coordinator that moves, loads or is lost is tried again', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    kafka.faults.add({ api: 'OffsetCommit', times: 1, disconnect: 'before' })
    kafka.faults.add({ api: 'OffsetCommit', times: 1, error: 'NOT_COORDINATOR' })
    expect(await admin.setGroupOffsets('billing', [{ ...at(0), offset: 5 }])).toMatchObject([{ error: undefined }])
    kafka.faults.add({ api: 'OffsetFetch', times: 2, error: 'COORDINATOR_LOAD_IN_PROGRESS' })
    kafka.faults.add({ api: 'OffsetFetch', times: 1, topic: 'orders', error: 'UNSTABLE_OFFSET_COMMIT' })
    const offsets = await admin.listGroupOffsets('billing', { partitions: [at(0)], requireStable: true })
    expect(offsets).toMatchObject([{ offset: 5 }])
    kafka.faults.add({ api: 'OffsetDelete', times: 1, error: 'NOT_COORDINATOR' })
    expect(await admin.deleteGroupOffsets('billing', [at(0)])).toMatchObject([{ error: undefined }])
  })

  test('no items, no requests', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    expect(await admin.setGroupOffsets('billing', [])).toEqual([])
    expect(await admin.deleteGroupOffsets('billing', [])).toEqual([])
    expect(await admin.describeGroups([])).toEqual([])
    expect(await admin.deleteGroups([])).toEqual([])
    expect(countOf(kafka, 'OffsetCommit') + countOf(kafka, 'OffsetDelete')).toBe(0)
  })
})
