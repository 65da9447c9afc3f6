// DescribeConfigs, AlterConfigs and IncrementalAlterConfigs.
import { describe, expect, test } from 'vitest'
import { startBroker } from '../../src/broker.js'
import { AlterConfigs } from '../../src/protocol/messages/alter-configs.js'
import { DescribeConfigs } from '../../src/protocol/messages/describe-configs.js'
import { errorCodes } from '../../src/protocol/messages/error-table.js'
import { IncrementalAlterConfigs } from '../../src/protocol/messages/incremental-alter-configs.js'
import { batchOf, produce } from './produce-fetch-lab.js'
import { WireClient } from './wire-client.js'

const topic = 2
const broker = 4

async function described(
  client: WireClient,
  resourceType: number,
  resourceName: string,
  configurationKeys: string[] | null = null,
) {
  const request = {
    resources: [{ resourceType, resourceName, configurationKeys }],
    includeSynonyms: true,
    includeDocumentation: true,
  }
  return (await client.send(DescribeConfigs, request)).results[0]!
}

async function changed(
  client: WireClient,
  resourceType: number,
  resourceName: string,
  ...ops: [name: string, op: number, value: string | null][]
) {
  const configs = ops.map(([name, configOperation, value]) => ({ name, configOperation, value }))
  const { responses } = await client.send(IncrementalAlterConfigs, {
    resources: [{ resourceType, resourceName, configs }],
    validateOnly: false,
  })
  return responses[0]!
}

describe('DescribeConfigs', () => {
  test('every config has its default, source, type and documentation', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { errorCode, configs } = await described(client, topic, 't')
    expect(errorCode).toBe(0)
    expect(configs.length).toBe(37)
    expect(configs.every(({ documentation }) => documentation !== null && documentation !== '')).toBe(true)
    expect(configs.find(({ name }) => name === 'max.message.bytes')).toMatchObject({
      value: '1048588',
      readOnly: false,
      configSource: 5,
      configType: 3,
      synonyms: [{ name: 'message.max.bytes', value: '1048588', source: 5 }],
    })
    const retention = configs.find(({ name }) => name === 'retention.ms')
    expect(retention).toMatchObject({
      value: '604800000',
      configSource: 5,
      synonyms: [],
    })
    const all = await described(client, broker, '1')
    expect(all.configs.find(({ name }) => name === 'num.partitions')).toMatchObject({
      value: '1',
      readOnly: true,
      configSource: 5,
    })
    expect(all.configs.length).toBeGreaterThan(80)
  })

  test('what the broker was started with is static, and the default of its topics', async () => {
    await using kafka = await startBroker({
      topics: { t: 1 },
      config: { 'log.retention.hours': 2, 'message.max.bytes': 5000 },
    })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const { configs } = await described(client, topic, 't', ['retention.ms', 'max.message.bytes'])
    expect(configs.map(({ name, value, configSource }) => [name, value, configSource])).toEqual([
      ['max.message.bytes', '5000', 4],
      ['retention.ms', '7200000', 4],
    ])
  })

  test('unknown topics, other brokers and other kinds of resource are refused', async () => {
    await using kafka = await startBroker({ brokers: 2 })
    await using client = await WireClient.open(kafka.brokers[0]!)
    expect((await described(client, topic, 'none')).errorCode).toBe(errorCodes.UNKNOWN_TOPIC_OR_PARTITION)
    expect((await described(client, topic, 'a b')).errorCode).toBe(errorCodes.INVALID_TOPIC_EXCEPTION)
    expect((await described(client, broker, '2')).errorCode).toBe(errorCodes.INVALID_REQUEST)
    expect((await described(client, 16, 'x')).errorCode).toBe(errorCodes.INVALID_REQUEST)
    expect(await described(client, broker, '')).toMatchObject({ errorCode: 0, configs: [] })
  })
})

describe('changing', () => {
  test('set and delete count at once', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const batch = () => batchOf(['x'.repeat(500)])
    expect((await changed(client, topic, 't', ['max.message.bytes', 0, '100'])).errorCode).toBe(0)
    expect((await produce(client, 't', 0, batch())).errorCode).toBe(errorCodes.MESSAGE_TOO_LARGE)
    expect((await changed(client, topic, 't', ['max.message.bytes', 1, null])).errorCode).toBe(0)
    expect((await produce(client, 't', 0, batch())).errorCode).toBe(0)
    expect((await changed(client, broker, '', ['message.max.bytes', 0, '100'])).errorCode).toBe(0)
    expect((await produce(client, 't', 0, batch())).errorCode).toBe(errorCodes.MESSAGE_TOO_LARGE)
    const { configs } = await described(client, topic, 't', ['max.message.bytes'])
    expect(configs[0]).toMatchObject({ value: '100', configSource: 3 })
    expect((await described(client, broker, '')).configs.map(({ name }) => name)).toEqual(['message.max.bytes'])
  })

  test('append and subtract are for lists', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const policy = async () => (await described(client, topic, 't', ['cleanup.policy'])).configs[0]!.value
    expect((await changed(client, topic, 't', ['cleanup.policy', 2, 'compact'])).errorCode).toBe(0)
    expect(await policy()).toBe('delete,compact')
    expect((await changed(client, topic, 't', ['cleanup.policy', 2, 'compact'])).errorCode).toBe(0)
    expect((await changed(client, topic, 't', ['cleanup.policy', 3, 'delete'])).errorCode).toBe(0)
    expect(await policy()).toBe('compact')
    expect((await changed(client, topic, 't', ['retention.ms', 2, '1'])).errorCode).toBe(errorCodes.INVALID_CONFIG)
  })

  test('a bad change of one config changes none', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const bad = async (...ops: Parameters<typeof changed>[3][]) => (await changed(client, topic, 't', ...ops)).errorCode
    expect(await bad(['retention.ms', 0, '5'], ['segment.bytes', 0, 'big'])).toBe(errorCodes.INVALID_CONFIG)
    expect(await bad(['retention.ms', 0, '5'], ['no.such', 0, '1'])).toBe(errorCodes.INVALID_CONFIG)
    expect(await bad(['retention.ms', 0, '5'], ['retention.ms', 0, '6'])).toBe(errorCodes.INVALID_REQUEST)
    expect(await bad(['retention.ms', 0, null])).toBe(errorCodes.INVALID_REQUEST)
    expect(await bad(['retention.ms', 9, '1'])).toBe(errorCodes.INVALID_REQUEST)
    expect((await changed(client, broker, '1', ['num.partitions', 0, '3'])).errorCode).toBe(errorCodes.INVALID_REQUEST)
    expect((await described(client, topic, 't')).configs.every(({ configSource }) => configSource === 5)).toBe(true)
  })

  test('AlterConfigs replaces all; a resource named twice is refused; validateOnly changes nothing', async () => {
    await using kafka = await startBroker({ topics: { t: 1 } })
    await using client = await WireClient.open(kafka.brokers[0]!)
    const alter = async (configs: { name: string; value: string | null }[], validateOnly = false, times = 1) => {
      const resources = Array.from({ length: times }, () => ({ resourceType: topic, resourceName: 't', configs }))
      return (await client.send(AlterConfigs, { resources, validateOnly })).responses[0]!.errorCode
    }
    expect(await alter([{ name: 'retention.ms', value: '1' }])).toBe(0)
    expect(await alter([{ name: 'segment.ms', value: '2' }], true)).toBe(0)
    expect(await alter([{ name: 'segment.ms', value: '2' }], false, 2)).toBe(errorCodes.INVALID_REQUEST)
    const set = async () =>
      (await described(client, topic, 't')).configs
        .filter(({ configSource }) => configSource === 1)
        .map(({ name }) => name)
    expect(await set()).toEqual(['retention.ms'])
    expect(await alter([{ name: 'segment.ms', value: '2' }])).toBe(0)
    expect(await set()).toEqual(['segment.ms'])
  })
})
