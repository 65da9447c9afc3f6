import { describe, expect, test } from 'vitest'
import { startBroker } from '../../../src/broker/start-broker.js'
import { Admin } from '../../../src/client/admin/index.js'
import { adminOf, fast } from './admin-helpers.js'

const offline = (options: object = {}) => new Admin({ brokers: ['127.0.0.1:1'], ...fast, ...options })

describe('bad input', () => {
  test.each([
    [{}, 'Admin: brokers is required'],
    [{ brokers: [] }, 'Admin: brokers must be an array of at least 1'],
    [{ brokers: ['a:1'], timeoutMs: 0 }, 'Admin: timeoutMs must be an integer of 1-86400000, got 0'],
    [{ brokers: ['a:1'], timeout: 5 }, 'Admin: unknown option timeout'],
    [undefined, 'Admin: options must be an object'],
  ])('the options %j are refused when it is made', (options, message) => {
    expect(() => new Admin(options as never)).toThrow(message)
    expect(() => new Admin(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  const calls: [string, (admin: Admin) => Promise<unknown>, string][] = [
    ['no list', (a) => a.createTopics('orders' as never), 'Admin.createTopics: topics must be an array, got "orders"'],
    ['an illegal name', (a) => a.createTopics(['a', 'b c']), 'Admin.createTopics: topics[1]: topic must be a topic'],
    ['a name twice', (a) => a.createTopics(['a', { topic: 'a' }]), 'Admin.createTopics: topics has a twice'],
    ['no partitions', (a) => a.createTopic({ topic: 'a', partitions: 0 }), 'topics[0]: partitions must be an integer'],
    ['two ways of placing', (a) => a.createTopic({ topic: 'a', partitions: 2, assignments: [[1]] }), 'give either'],
    [
      'an unknown key',
      (a) => a.createTopic({ topic: 'a', replicas: 1 } as never),
      'topics[0]: unknown option replicas',
    ],
    ['a config that is an object', (a) => a.createTopic({ topic: 'a', configs: { b: {} } as never }), 'b is something'],
    ['an unknown option', (a) => a.createTopic('a', { dryRun: true } as never), 'createTopic: unknown option dryRun'],
    ['a wrong option', (a) => a.createTopic('a', { validateOnly: 1 } as never), 'validateOnly must be true or false'],
    ['a wrong time', (a) => a.listTopics({ timeoutMs: -1 }), 'Admin.listTopics: timeoutMs must be an integer'],
    ['a wrong signal', (a) => a.listTopics({ signal: {} as never }), 'Admin.listTopics: signal must be an AbortSignal'],
    ['an empty name', (a) => a.deleteTopic(''), 'Admin.deleteTopic: topics[0] must be'],
    ['no total', (a) => a.addPartitions({ topic: 'a' } as never), 'topics[0]: total is required'],
    ['too many placed', (a) => a.addPartitions({ topic: 'a', total: 1, assignments: [[1]] }), 'fewer than total'],
    ['a negative offset', (a) => a.deleteRecords({ topic: 'a', partition: 0, before: -1 }), "an offset, or 'end'"],
    [
      'a partition twice',
      (a) =>
        a.deleteGroupOffsets(
          'g',
          [0, 0].map((partition) => ({ topic: 'a', partition })),
        ),
      'twice',
    ],
    [
      'no place',
      (a) => a.listOffsets('a', 'start' as never),
      "Admin.listOffsets: at must be 'beginning', 'end' or a valid",
    ],
    ['a bad date', (a) => a.listOffsets([{ topic: 'a', partition: 0, at: new Date(NaN) }]), 'questions[0]: at must be'],
    ['an empty group', (a) => a.describeGroup(''), 'Admin.describeGroup: group must be a string that is not empty'],
    ['a group that is none', (a) => a.deleteGroups([7 as never]), 'Admin.deleteGroups: groups[0] must be a string'],
    ['a group twice', (a) => a.describeGroups(['g', 'g']), 'Admin.describeGroups: groups has g twice'],
    ['states that are no list', (a) => a.listGroups({ states: 'Empty' as never }), 'states must be an array'],
    [
      'no offset',
      (a) => a.setGroupOffsets('g', [{ topic: 'a', partition: 0 } as never]),
      'offsets[0]: offset is required',
    ],
    [
      'a bad partition',
      (a) => a.listGroupOffsets('g', { partitions: [{ topic: 'a', partition: 1.5 }] }),
      'partition must be',
    ],
  ]
  test.each(calls)('%s is refused before anything is sent', async (_, call, message) => {
    await using admin = offline()
    const refusal = call(admin)
    await expect(refusal).rejects.toThrow(message)
    await expect(refusal).rejects.toMatchObject({ name: 'UsageError', code: 'INVALID_OPTION' })
  })

  test("the caller's objects are not changed", async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    const topics = Object.freeze([Object.freeze({ topic: 'a', configs: Object.freeze({ 'retention.ms': 1 }) })])
    await admin.createTopics(topics, Object.freeze({ timeoutMs: 5000 }))
    expect(kafka.topicNames()).toEqual(['a'])
  })
})

describe('the life of an Admin', () => {
  test('no broker can be reached: every call ends with TIMEOUT at its deadline, and tells why', async () => {
    await using admin = offline()
    await expect(admin.connect({ timeoutMs: 60 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      cause: { code: 'CONNECTION_FAILED' },
    })
    await expect(admin.createTopics(['a'], { timeoutMs: 60 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(admin.listGroups({ timeoutMs: 60 })).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  test('timeoutMs of the Admin holds for calls without one', async () => {
    await using admin = offline({ timeoutMs: 50 })
    await expect(admin.listTopics()).rejects.toThrow('did not finish within 50 ms')
  })

  test('a signal ends a call with ABORTED, at once and while it waits', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using admin = adminOf(kafka)
    await admin.connect()
    await expect(admin.listTopics({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' })
    const controller = new AbortController()
    kafka.faults.add({ api: 'CreateTopics', drop: true })
    kafka.faults.add({ api: 'DescribeGroups', drop: true })
    const calls = [
      admin.createTopics(['a'], { signal: controller.signal }),
      admin.describeGroups(['a'], { signal: controller.signal }),
    ]
    controller.abort(new Error('enough'))
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'ABORTED', cause: new Error('enough') })
  })

  test('a request that is never answered may have been done, and its item says so', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    await admin.connect()
    kafka.faults.add({ api: 'CreateTopics', drop: true })
    const [result] = await admin.createTopics(['a'], { timeoutMs: 100 })
    expect(result).toMatchObject({ topic: 'a', error: { code: 'TIMEOUT' }, maybeDone: true })
    expect(kafka.topicNames()).toEqual(['a'])
  })

  test('close() ends what is running with CLOSED, can be called twice, and later calls are refused', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    await admin.connect()
    kafka.faults.add({ api: 'CreateTopics', drop: true })
    kafka.faults.add({ api: 'DeleteGroups', drop: true })
    const running = [admin.createTopics(['a']), admin.deleteGroups(['g'])]
    const closing = [admin.close(), admin.close()]
    for (const call of running) await expect(call).rejects.toMatchObject({ code: 'CLOSED' })
    await Promise.all(closing)
    await expect(admin.listTopics()).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(admin.connect()).rejects.toThrow('the Admin is closed')
  })

  test('events of its connections reach listeners until off()', async () => {
    await using kafka = await startBroker()
    await using admin = adminOf(kafka)
    const connected: string[] = []
    const listener = ({ address }: { readonly address: string }) => connected.push(address)
    const once: string[] = []
    admin.on('connected', listener).once('connected', ({ address }) => once.push(address))
    await admin.connect()
    expect(connected).toEqual(kafka.brokers)
    admin.off('connected', listener)
    await kafka.broker(1).kill()
    await kafka.broker(1).start()
    await admin.listTopics()
    expect([connected.length, once.length]).toEqual([1, 1])
  })
})
