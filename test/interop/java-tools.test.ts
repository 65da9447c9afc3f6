// Kafka's own command line tools on our broker: console, topics, groups, configs, offsets, verifiable clients, performance.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startBroker, type BrokerCluster } from '../../src/broker.js'
import { Producer } from '../../src/index.js'
import { GroupMember } from '../../src/client/group/index.js'
import { until } from '../helpers/until.js'
import { java } from './support/peers.js'
import type { Program } from './support/program.js'

let kafka: BrokerCluster

beforeEach(async () => {
  kafka = await startBroker({ brokers: 2, topics: { orders: 3 } })
})
afterEach(() => kafka.close())

const folders: Readonly<Record<string, string>> = {
  ConsoleConsumer: 'consumer.',
  ConsumerGroupCommand: 'consumer.group.',
}

const start = (name: string, words: readonly string[], input?: string): Program =>
  java(
    `org.apache.kafka.tools.${folders[name] ?? ''}${name}`,
    ['--bootstrap-server', kafka.brokers.join(), ...words],
    input,
  )

/** What a tool wrote to standard output; it must end with this status. */
async function run(name: string, words: readonly string[], { input = '', status = 0 } = {}): Promise<string> {
  await using tool = start(name, words, input)
  await tool.ended(status)
  return status === 0 ? tool.stdout : tool.stdout + tool.stderr
}

/** The rows of a table that a tool printed, as their words; the head is left out. */
const rows = (text: string, head: RegExp): string[][] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !head.test(line))
    .map((line) => line.trim().split(/\s+/))

const produce = async (topic: string, count: number): Promise<void> => {
  await using producer = new Producer({ brokers: kafka.brokers })
  await producer.send(
    topic,
    Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: `v${i}`, partition: i % 3 })),
  )
}

const named = (program: Program, name: string) => program.lines.filter((line) => line['name'] === name)

describe("Kafka's tools", () => {
  test('ConsoleProducer writes, ConsoleConsumer reads with a group, keys and headers and all', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `trace:${i}\tk${i % 5}\tline ${i}, mit Ümlaut`)
    const parsed = ['parse.key=true', 'parse.headers=true'].flatMap((one) => ['--reader-property', one])
    await run('ConsoleProducer', ['--topic', 'orders', '--compression-codec', 'snappy', ...parsed], {
      input: lines.map((line) => `${line}\n`).join(''),
    })
    const log = await kafka.topic('orders').records()
    const written = log.map(({ key, value, headers }) => {
      const texts = headers.map((header) => `${header.key}:${String(header.value)}`)
      return `${texts.join()}\t${String(key)}\t${String(value)}`
    })
    expect(written.sort()).toEqual(lines.sort())

    const printed = ['print.key=true', 'print.headers=true', 'print.partition=true', 'print.offset=true']
    const read = await run('ConsoleConsumer', [
      ...['--topic', 'orders', '--from-beginning', '--max-messages', '30', '--group', 'console'],
      ...printed.flatMap((one) => ['--formatter-property', one]),
    ])
    const expected = log.map(({ partition, offset, key, value, headers: [header] }) =>
      [`Partition:${partition}`, `Offset:${offset}`, `trace:${String(header?.value)}`, String(key), String(value)].join(
        '\t',
      ),
    )
    expect(
      read
        .split('\n')
        .filter((line) => line.startsWith('Partition'))
        .sort(),
    ).toEqual(expected.sort())
    const [group] = kafka.groups()
    expect(group).toMatchObject({ group: 'console', state: 'Empty' })
    expect(group!.offsets.map(({ lag }) => lag)).toEqual([0, 0, 0])
  })

  test('TopicCommand creates, lists, describes, alters and deletes topics, and is refused what Kafka refuses', async () => {
    const created = ['--create', '--topic', 'made', '--partitions', '3', '--config', 'retention.ms=60000']
    expect(await run('TopicCommand', created)).toContain('Created topic made.')
    expect(await run('TopicCommand', created, { status: 1 })).toContain("Topic 'made' already exists.")
    const replicated = ['--create', '--topic', 'many', '--replication-factor', '3']
    expect(await run('TopicCommand', replicated, { status: 1 })).toContain(
      'replication factor of 3 cannot be reached because only 2 broker(s) are registered',
    )
    expect((await run('TopicCommand', ['--list'])).trim().split('\n')).toEqual(['made', 'orders'])
    await run('TopicCommand', ['--alter', '--topic', 'made', '--partitions', '4'])
    const [head, ...partitions] = (await run('TopicCommand', ['--describe', '--topic', 'made'])).trim().split('\n')
    expect(head).toMatch(
      /^Topic: made\tTopicId: \S{22}\tPartitionCount: 4\tReplicationFactor: 1\tConfigs: .*retention\.ms=60000/,
    )
    expect(head).toContain(kafka.topic('made').id)
    const places = partitions.map((line) =>
      /Partition: (\d)\tLeader: (\d)\tReplicas: (\d)\tIsr: (\d)/.exec(line)!.slice(1),
    )
    expect(places.map(([partition]) => partition)).toEqual(['0', '1', '2', '3'])
    for (const [, leader, replicas, isr] of places) expect([replicas, isr]).toEqual([leader, leader])
    expect(places.map(([, leader]) => leader).sort()).toEqual(['1', '1', '2', '2'])
    await run('TopicCommand', ['--delete', '--topic', 'made'])
    expect(kafka.topicNames()).toEqual(['orders'])
  })

  test('ConsumerGroupCommand lists, describes, resets and deletes groups of ottla members', async () => {
    await produce('orders', 30)
    const options = { brokers: kafka.brokers, group: 'billing', clientId: 'ottla', topics: ['orders'] }
    const member = new GroupMember({ ...options, from: 'beginning', heartbeatMs: 100 })
    let count = 0
    for await (const record of member) {
      record.done()
      if (++count === 30) break
    }
    await member.commit()
    await produce('orders', 3)
    expect(rows(await run('ConsumerGroupCommand', ['--list', '--state', '--type']), /^GROUP/)).toEqual([
      ['billing', 'Classic', 'Stable'],
    ])
    const id = kafka.groups()[0]!.members[0]!.memberId
    const described = rows(await run('ConsumerGroupCommand', ['--describe', '--group', 'billing']), /^GROUP/)
    expect(described.sort()).toEqual(
      ['0', '1', '2'].map((partition) => [
        ...['billing', 'orders', partition, '10', '11', '1'],
        ...[id, '/127.0.0.1', 'ottla'],
      ]),
    )
    const members = await run('ConsumerGroupCommand', ['--describe', '--group', 'billing', '--members', '--verbose'])
    expect(members).toContain(`billing         ${id} /127.0.0.1      ottla`)
    expect(members).toContain('orders:0,1,2')
    const state = await run('ConsumerGroupCommand', ['--describe', '--group', 'billing', '--state'])
    expect(rows(state, /^GROUP/)[0]!.slice(-3)).toEqual(['range', 'Stable', '1'])

    const reset = ['--reset-offsets', '--group', 'billing', '--topic', 'orders', '--execute']
    const refused = await run('ConsumerGroupCommand', [...reset, '--to-earliest'])
    expect(refused).toContain("can only be reset if the group 'billing' is inactive, but the current state is Stable")
    const offsets = () => kafka.groups()[0]?.offsets.map(({ offset }) => offset)
    expect(offsets()).toEqual([10, 10, 10])
    await member.close()
    await run('ConsumerGroupCommand', [...reset, '--to-earliest'])
    expect(offsets()).toEqual([0, 0, 0])
    await run('ConsumerGroupCommand', [...reset, '--to-latest'])
    expect(offsets()).toEqual([11, 11, 11])
    await run('ConsumerGroupCommand', [...reset, '--shift-by', '-4'])
    expect(offsets()).toEqual([7, 7, 7])
    await run('ConsumerGroupCommand', [...reset, '--to-datetime', '2000-01-01T00:00:00.000'])
    expect(offsets()).toEqual([0, 0, 0])
    await run('ConsumerGroupCommand', ['--delete-offsets', '--group', 'billing', '--topic', 'orders:1'])
    expect(kafka.groups()[0]!.offsets.map(({ partition }) => partition)).toEqual([0, 2])
    await run('ConsumerGroupCommand', ['--delete', '--group', 'billing'])
    expect(kafka.groups()).toEqual([])
  })

  test('ConfigCommand shows every config with its source, sets and unsets them', async () => {
    const topic = ['--entity-type', 'topics', '--entity-name', 'orders']
    await run('ConfigCommand', [
      ...topic,
      '--alter',
      '--add-config',
      'max.message.bytes=2000,cleanup.policy=[compact,delete]',
    ])
    const all = await run('ConfigCommand', [...topic, '--describe', '--all'])
    expect(all).toContain(
      'max.message.bytes=2000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000, DEFAULT_CONFIG:message.max.bytes=1048588}',
    )
    expect(all).toMatch(/cleanup\.policy=compact,delete .*DEFAULT_CONFIG:log\.cleanup\.policy=delete/)
    expect(all).toContain('retention.bytes=-1 sensitive=false synonyms={DEFAULT_CONFIG:log.retention.bytes=-1}')
    await run('ConfigCommand', [...topic, '--alter', '--delete-config', 'cleanup.policy'])
    expect(rows(await run('ConfigCommand', [...topic, '--describe']), /^Dynamic/).map(([text]) => text)).toEqual([
      'max.message.bytes=2000',
    ])
    const wrong = [...topic, '--alter', '--add-config', 'retention.ms=soon']
    expect(await run('ConfigCommand', wrong, { status: 1 })).toContain('retention.ms')
    const broker = await run('ConfigCommand', ['--entity-type', 'brokers', '--entity-name', '2', '--describe', '--all'])
    expect(broker).toMatch(/auto\.create\.topics\.enable=true .*\n[^]*num\.partitions=1 /)
  })

  test('GetOffsetShell gives the ends, the beginnings and offsets at times', async () => {
    await produce('orders', 30)
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send('orders', { value: 'of the future', partition: 1, timestamp: Date.now() + 600_000 })
    const shell = async (time: string) =>
      (await run('GetOffsetShell', ['--topic', 'orders', '--time', time])).trim().split('\n').filter(Boolean)
    expect(await shell('latest')).toEqual(['orders:0:10', 'orders:1:11', 'orders:2:10'])
    expect(await shell('earliest')).toEqual(['orders:0:0', 'orders:1:0', 'orders:2:0'])
    expect((await shell('max-timestamp'))[1]).toBe('orders:1:10')
    expect(await shell(String(Date.now() + 300_000))).toEqual(['orders:1:10'])
    expect(await shell('0')).toEqual(['orders:0:0', 'orders:1:0', 'orders:2:0'])
  })

  test('BrokerApiVersionsCommand: Produce from 0 and JoinGroup from 0 on are offered, telemetry is not', async () => {
    const text = await run('BrokerApiVersionsCommand', [])
    expect(text.match(/\(id: \d+ rack: null isFenced: false\)/g)).toHaveLength(2)
    for (const line of ['Produce(0): 0 to 13', 'Fetch(1): 4 to 18', 'JoinGroup(11): 0 to 9', 'Heartbeat(12): 0 to 4'])
      expect(text).toContain(line)
    expect(text).toContain('GetTelemetrySubscriptions(71): UNSUPPORTED')
    expect(text).not.toContain('UNKNOWN') // nothing is offered that Kafka does not have
  })

  test('VerifiableProducer and two VerifiableConsumers: every record once, handed over when one leaves', async () => {
    const consumer = () =>
      start('VerifiableConsumer', [
        ...['--topic', 'orders', '--group-id', 'verified', '--reset-policy', 'earliest', '--verbose'],
        ...['--session-timeout', '10000', '--group-protocol', 'classic'],
      ])
    const owned = (program: Program) =>
      (named(program, 'partitions_assigned').at(-1)?.['partitions'] as unknown[] | undefined)?.length
    const place = ({ value, partition, offset }: Record<string, unknown>) =>
      `${String(partition)} ${String(offset)} ${String(value)}`
    const produced: string[] = []
    const produceMore = async (prefix: string) => {
      const words = ['--topic', 'orders', '--max-messages', '300', '--repeating-keys', '20', '--value-prefix', prefix]
      await using producer = start('VerifiableProducer', words)
      await producer.ended()
      expect(named(producer, 'tool_data')).toMatchObject([{ sent: 300, acked: 300 }])
      produced.push(...named(producer, 'producer_send_success').map(place))
    }
    await using one = consumer()
    await one.until('it has every partition', () => owned(one) === 3)
    await using other = consumer()
    await until('they share', () => [owned(one), owned(other)].sort().join() === '1,2', 60_000)
    const read = () => [one, other].flatMap((program) => named(program, 'record_data')).map(place)
    await produceMore('1')
    await until('both have read everything', () => read().length >= 300, 30_000)
    for (const each of [one, other]) expect(named(each, 'record_data').length).toBeGreaterThan(0)

    one.signal('SIGTERM')
    await one.until('it has left', () => named(one, 'shutdown_complete').length > 0)
    await other.until('it has every partition', () => owned(other) === 3, 60_000)
    await produceMore('2')
    await until('the other has read the rest', () => read().length >= 600, 30_000)
    other.signal('SIGTERM')
    await other.until('it has left', () => named(other, 'shutdown_complete').length > 0)
    expect(produced).toHaveLength(600)
    expect(read().sort()).toEqual(produced.sort())
    const [group] = kafka.groups()
    expect(group).toMatchObject({ group: 'verified', state: 'Empty' })
    expect(group!.offsets.reduce((sum, { offset }) => sum + offset, 0)).toBe(600)
  })

  test('ProducerPerformance and ConsumerPerformance write and read all they were told to', async () => {
    const amount = ['--num-records', '20000', '--record-size', '200', '--throughput', '-1']
    const idempotent = ['--command-property', 'compression.type=lz4']
    expect(await run('ProducerPerformance', ['--topic', 'orders', ...amount, ...idempotent])).toContain(
      '20000 records sent',
    )
    const log = await kafka.topic('orders').records()
    expect(log).toHaveLength(20_000)
    expect(log.every(({ value }) => value!.length === 200)).toBe(true)
    const text = await run('ConsumerPerformance', ['--topic', 'orders', '--num-records', '20000', '--group', 'perf'])
    const [head, row] = text
      .trim()
      .split('\n')
      .map((line) => line.split(', '))
    expect(row![head!.indexOf('data.consumed.in.nMsg')]).toBe('20000')
    expect(row![head!.indexOf('data.consumed.in.MB')]).toBe((4_000_000 / 2 ** 20).toFixed(4))
  })
})
