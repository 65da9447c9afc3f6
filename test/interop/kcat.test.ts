// kcat (librdkafka of Debian) on our broker: metadata, producing and consuming with each codec, groups, offsets, topics made by asking.
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { startBroker, type BrokerCluster } from '../../src/broker.js'
import { Consumer, Producer } from '../../src/index.js'
import { until } from '../helpers/until.js'
import { codecs } from './support/exchange.js'
import { Program, ran } from './support/program.js'
import { versionsOf } from './support/requests.js'

const entry = fileURLToPath(new URL('../../src/cli/ottla.ts', import.meta.url))

const start = (brokers: readonly string[], ...words: string[]): Program =>
  new Program(inject('interop').kcat, ['-b', brokers.join(), '-X', 'client.id=kcat', ...words], { input: '' })

async function kcat(brokers: readonly string[], ...words: string[]): Promise<Program> {
  await using program = start(brokers, ...words)
  return await program.ended()
}

const produce = (kafka: BrokerCluster, words: readonly string[], lines: readonly string[]): Promise<Program> =>
  ran(inject('interop').kcat, ['-b', kafka.brokers.join(), '-P', ...words], {
    input: lines.map((line) => `${line}\n`).join(''),
  })

const linesOf = (program: Program) => program.stdout.split('\n').filter((line) => line !== '')
const numbered = (count: number, name = 'v') => Array.from({ length: count }, (_, i) => `${name}${i}`)

describe('kcat', () => {
  test('-L on `ottla broker` as a command, which listens on localhost by IPv4 and IPv6', async () => {
    const words = ['--host', 'localhost', '--port', '0', '--brokers', '2', '--topic', 'orders:3']
    await using broker = new Program(process.execPath, ['--import', 'tsx', entry, 'broker', ...words])
    const [, brokers] = await broker.until('it is ready', () => /ready: (\S+)/.exec(broker.stdout))
    const port = /:(\d+)/.exec(brokers!)![1]
    for (const address of [`127.0.0.1:${port}`, `[::1]:${port}`]) {
      const listed = await kcat([address], '-L', '-J')
      const { brokers: found, topics, controllerid } = listed.lines[0]!
      const addresses = (found as { id: number; name: string }[]).sort((a, b) => a.id - b.id)
      expect(addresses).toEqual(brokers!.split(',').map((name, i) => ({ id: i + 1, name })))
      expect([1, 2]).toContain(controllerid)
      expect(topics).toEqual([
        {
          topic: 'orders',
          partitions: [1, 2, 1].map((leader, partition) => ({
            partition,
            leader,
            replicas: [{ id: leader }],
            isrs: [{ id: leader }],
          })),
        },
      ])
    }
    broker.signal('SIGTERM')
    await broker.ended()
  })

  test.each(codecs)('-P and -C with %s', async (codec) => {
    await using kafka = await startBroker({ topics: { orders: 2 } })
    const lines = numbered(200).map((value, i) => `k${i}\t${value} ${'lång text '.repeat(8)}`)
    await produce(kafka, ['-t', 'orders', '-p', '1', '-K', '\t', '-z', codec, '-H', 'trace=1'], lines)
    expect(new Set((await kafka.topic('orders').batches()).map(({ compression }) => compression))).toEqual(
      new Set([codec]),
    )
    const wanted = lines.map((line, i) => `1 ${i} ${line} trace=1`)

    await using consumer = new Consumer({ brokers: kafka.brokers, topics: ['orders'], from: 'beginning', to: 'end' })
    const ours: string[] = []
    for await (const { partition, offset, key, value, headers } of consumer)
      ours.push(
        `${partition} ${offset} ${String(key)}\t${String(value)} ${headers[0]!.key}=${String(headers[0]!.value)}`,
      )
    expect(ours).toEqual(wanted)

    const format = ['-e', '-q', '-f', '%p %o %k\t%s %h\n']
    expect(linesOf(await kcat(kafka.brokers, '-C', '-t', 'orders', '-o', 'beginning', ...format))).toEqual(wanted)

    // And what we write with the codec, from the middle of its one batch on.
    await using producer = new Producer({ brokers: kafka.brokers, compression: codec })
    await producer.send(
      'orders',
      numbered(50).map((value) => ({ key: 'k', value, partition: 0, headers: { by: 'us' } })),
    )
    expect(await kafka.topic('orders').batches(0)).toHaveLength(1)
    const rest = await kcat(kafka.brokers, '-C', '-t', 'orders', '-p', '0', '-o', '31', ...format)
    expect(linesOf(rest)).toEqual(
      numbered(50)
        .slice(31)
        .map((value, i) => `0 ${31 + i} k\t${value} by=us`),
    )
  })

  test('-G: two members share a topic, and each record is read once', async () => {
    await using kafka = await startBroker({ brokers: 2, topics: { orders: 4 } })
    const member = () =>
      start(
        kafka.brokers,
        ...['-G', 'readers', '-u', '-f', '%p %o %s\n', '-X', 'auto.offset.reset=earliest'],
        ...['-X', 'heartbeat.interval.ms=100', '-X', 'session.timeout.ms=10000', 'orders'],
      )
    const owned = (program: Program) =>
      program.stderr
        .split('\n')
        .findLast((line) => line.includes('assigned: '))
        ?.split('assigned: ')[1]
        ?.split(', ').length
    await using one = member()
    await one.until('it has all partitions', () => owned(one) === 4)
    await using other = member()
    await until('they share', () => owned(one) === 2 && owned(other) === 2, 30_000)
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send(
      'orders',
      numbered(400).map((value, i) => ({ value, partition: i % 4 })),
    )
    await until('everything is read', () => linesOf(one).length + linesOf(other).length >= 400, 30_000)
    for (const each of [one, other]) {
      each.signal('SIGTERM')
      await each.ended()
      expect(linesOf(each)).toHaveLength(200)
    }
    const read = [...linesOf(one), ...linesOf(other)].sort()
    expect(read).toEqual(
      numbered(400)
        .map((value, i) => `${i % 4} ${Math.floor(i / 4)} ${value}`)
        .sort(),
    )
    const [group] = kafka.groups()
    expect(group).toMatchObject({ group: 'readers', state: 'Empty', members: [] })
    expect(group!.offsets.map(({ offset }) => offset)).toEqual([100, 100, 100, 100])
  })

  test('-Q and -o: offsets at times', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    await using producer = new Producer({ brokers: kafka.brokers })
    await producer.send(
      'orders',
      [1000, 2000, 3000].map((timestamp) => ({ value: `${timestamp}`, timestamp })),
    )
    const queries = ['0', '1001', '3000', '3001', '-1', '-2']
    const answers = []
    for (const time of queries) answers.push(...linesOf(await kcat(kafka.brokers, '-Q', '-t', `orders:0:${time}`)))
    expect(answers).toEqual([0, 1, 2, -1, 3, 0].map((offset) => `orders [0] offset ${offset}`))
    const late = await kcat(kafka.brokers, '-C', '-t', 'orders', '-e', '-q', '-o', 's@1500', '-f', '%s\n')
    expect(linesOf(late)).toEqual(['2000', '3000'])
  })

  test('an empty topic has an end: an empty fetch is not an error', async () => {
    await using kafka = await startBroker({ topics: { empty: 1 } })
    const read = await kcat(kafka.brokers, '-C', '-t', 'empty', '-e', '-o', 'beginning')
    expect(read.stdout).toBe('')
    expect(read.stderr).toContain('Reached end of topic empty [0] at offset 0')
    expect(read.stderr).not.toContain('ERROR')
  })

  test('asking for a topic makes it, with num.partitions, unless that is switched off', async () => {
    await using kafka = await startBroker({ config: { 'num.partitions': 4 } })
    await produce(kafka, ['-t', 'made', '-p', '3'], ['hello'])
    expect(kafka.topic('made').partitionCount).toBe(4)
    expect((await kafka.topic('made').records()).map(({ partition, value }) => [partition, String(value)])).toEqual([
      [3, 'hello'],
    ])
    await using strict = await startBroker({ autoCreateTopics: false })
    const words = ['-P', '-t', 'made', '-X', 'topic.metadata.propagation.max.ms=1']
    await using refused = new Program(inject('interop').kcat, ['-b', strict.brokers.join(), ...words], {
      input: 'no\n',
    })
    await refused.ended(1)
    expect(refused.stderr).toContain('Unknown topic')
    expect(strict.topicNames()).toEqual([])
  })

  test('a broker that does not know its ApiVersions request says so in version 0, and it asks again', async () => {
    await using kafka = await startBroker({ topics: { orders: 1 } })
    const fault = kafka.faults.add({ api: 'ApiVersions', client: 'kcat', times: 1, error: 'UNSUPPORTED_VERSION' })
    const listed = await kcat(kafka.brokers, '-L', '-J')
    expect(fault.hits).toBe(1)
    expect(listed.lines).toMatchObject([{ topics: [{ topic: 'orders' }] }])
    expect(versionsOf(kafka, 'kcat', 'ApiVersions')).toEqual([0, 3])
  })
})
