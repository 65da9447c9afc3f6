// @platformatic/kafka, run by the interop tests: node platformatic-peer.mjs COMMAND OPTIONS_AS_JSON.
import { once } from 'node:events'
import {
  Admin,
  Consumer,
  Producer,
  compatibilityPartitioner,
  stringDeserializers,
  stringSerializers,
} from '@platformatic/kafka'
import { asked, main, options, pairs, tell } from './peer.mjs'

const client = { bootstrapBrokers: options.brokers.split(','), clientId: 'platformatic' }

async function produce() {
  const producer = new Producer({
    ...client,
    serializers: stringSerializers,
    compression: options.codec,
    idempotent: true,
    partitioner: compatibilityPartitioner,
  })
  const messages = options.records.map((record) => ({
    ...record,
    topic: options.topic,
    headers: new Map(record.headers),
  }))
  const { offsets } = await producer.send({ messages, acks: -1 })
  for (const { partition, offset } of offsets) {
    options.records
      .filter((record) => record.partition === partition)
      .forEach(({ value }, i) => tell('delivered', { partition, offset: Number(offset) + i, value }))
  }
  await producer.close()
}

async function group() {
  const consumer = new Consumer({
    ...client,
    groupId: options.group,
    deserializers: stringDeserializers,
    autocommit: 100,
    heartbeatInterval: 100,
    sessionTimeout: 10_000,
    rebalanceTimeout: 10_000,
    maxWaitTime: 50,
    protocols: [{ name: options.assignor, version: 1 }],
  })
  const next = new Map()
  let owned = []
  let fetches = Infinity
  consumer.on('consumer:group:join', ({ assignments }) => {
    owned = pairs((assignments ?? []).map(({ topic, partitions }) => [topic, partitions]))
    for (const partition of next.keys()) if (!owned.some((pair) => pair[1] === partition)) next.delete(partition)
    fetches = Infinity
    tell('assigned', { partitions: [] })
  })
  const end = asked()
  const stream = await consumer.consume({ topics: [options.topic], mode: 'committed', fallbackMode: 'earliest' })
  // After joining it looks its offsets up again, and a fetch sent before may still bring records of partitions it has given up: only
  // after that, so with the second fetch from here, it has just the partitions it was given.
  stream.on('offsets', () => (fetches = 0))
  stream.on('fetch', () => {
    if (++fetches === 2) tell('assigned', { partitions: owned })
  })
  stream.on('error', (error) => {
    console.error(error)
    process.exit(4)
  })
  stream.on('data', ({ partition, offset, key, value, headers }) => {
    next.set(partition, offset)
    tell('record', { partition, offset: Number(offset), key: key ?? null, value: value ?? null, headers: [...headers] })
  })
  // Its close() does not wait for a commit that comes after one under way.
  const isCommitted = () =>
    [...next].every(([partition, offset]) => stream.offsetsCommitted.get(`${options.topic}:${partition}`) > offset)
  await end
  while (!isCommitted()) await once(stream, 'autocommit')
  await consumer.close(true)
  tell('closed')
}

async function admin() {
  const admin = new Admin(client)
  const { topic, group: groupId } = options
  const [created] = await admin.createTopics({ topics: [topic], partitions: 2, replicas: 1 })
  tell('created', { name: created.name, partitions: created.partitions })
  tell('topics', { topics: await admin.listTopics() })
  const consumer = new Consumer({ ...client, groupId, deserializers: stringDeserializers })
  await consumer.joinGroup({})
  tell('groups', { groups: [...(await admin.listGroups()).values()].map(({ id, state }) => [id, state]) })
  const described = await admin.describeGroups({ groups: [groupId] })
  tell('group', { state: described.get(groupId).state, members: described.get(groupId).members.size })
  await consumer.leaveGroup()
  await consumer.close()
  await admin.deleteGroups({ groups: [groupId] })
  await admin.deleteTopics({ topics: [topic] })
  tell('left', { topics: await admin.listTopics(), groups: (await admin.listGroups()).size })
  await admin.close()
}

await main({ produce, group, admin })
