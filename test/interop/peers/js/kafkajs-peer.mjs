// kafkajs, run by the interop tests: node kafkajs-peer.mjs COMMAND OPTIONS_AS_JSON.
import kafkajs from 'kafkajs'
import { asked, main, options, pairs, tell, text } from './peer.mjs'

const { AssignerProtocol, CompressionTypes, ConfigResourceTypes, Kafka, Partitioners, PartitionAssigners, logLevel } =
  kafkajs
const kafka = new Kafka({ brokers: options.brokers.split(','), clientId: 'kafkajs', logLevel: logLevel.NOTHING })

/** Kafka's range: a topic's partitions in runs, over the members in the order of their ids. */
const range = ({ cluster }) => ({
  name: 'range',
  version: 0,
  async assign({ members, topics }) {
    const assignments = new Map(members.map(({ memberId }) => [memberId, {}]))
    const subscribed = members.map(({ memberId, memberMetadata }) => {
      const { topics: wanted } = AssignerProtocol.MemberMetadata.decode(memberMetadata)
      return { memberId, wanted }
    })
    for (const topic of topics) {
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
      partitions.sort((a, b) => a - b)
      const takers = subscribed
        .filter(({ wanted }) => wanted.includes(topic))
        .sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
      takers.forEach(({ memberId }, i) => {
        const least = Math.floor(partitions.length / takers.length)
        const more = partitions.length % takers.length
        const first = least * i + Math.min(i, more)
        assignments.get(memberId)[topic] = partitions.slice(first, first + least + (i < more ? 1 : 0))
      })
    }
    return [...assignments].map(([memberId, assignment]) => ({
      memberId,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: 0, assignment, userData: Buffer.alloc(0) }),
    }))
  },
  protocol({ topics }) {
    return {
      name: 'range',
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: 0, // the form that kafkajs writes, without owned partitions
        topics,
        userData: Buffer.alloc(0),
      }),
    }
  },
})
const assigners = { range, own: PartitionAssigners.roundRobin }

async function produce() {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await producer.connect()
  const compression = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }[options.codec]
  const messages = options.records.map(({ headers, ...record }) => ({
    ...record,
    headers: Object.fromEntries(headers),
  }))
  const results = await producer.send({ topic: options.topic, messages, compression, acks: -1 })
  for (const { partition, baseOffset } of results) {
    options.records
      .filter((record) => record.partition === partition)
      .forEach(({ value }, i) => tell('delivered', { partition, offset: Number(baseOffset) + i, value }))
  }
  await producer.disconnect()
}

async function group() {
  const consumer = kafka.consumer({
    groupId: options.group,
    partitionAssigners: [assigners[options.assignor]],
    heartbeatInterval: 100,
    sessionTimeout: 10_000,
    rebalanceTimeout: 10_000,
    maxWaitTimeInMs: 50,
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) =>
    tell('assigned', { partitions: pairs(Object.entries(memberAssignment)) }),
  )
  consumer.on(consumer.events.REBALANCING, () => tell('assigned', { partitions: [] }))
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => {
    console.error(error)
    process.exit(4)
  })
  const end = asked()
  await consumer.connect()
  await consumer.subscribe({ topics: [options.topic], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) =>
      tell('record', {
        partition,
        offset: Number(message.offset),
        key: text(message.key),
        value: text(message.value),
        headers: Object.entries(message.headers).map(([key, value]) => [key, text(value)]),
      }),
  })
  await end
  await consumer.disconnect()
  tell('closed')
  // After a broken connection something of kafkajs keeps the process alive.
  process.stdout.write('', () => process.exit(0))
}

async function admin() {
  const admin = kafka.admin()
  await admin.connect()
  const { topic, group: groupId } = options
  tell('cluster', await admin.describeCluster())
  await admin.createTopics({ topics: [{ topic, numPartitions: 2, replicationFactor: 1 }], waitForLeaders: true })
  tell('created again', { isNew: await admin.createTopics({ topics: [{ topic, numPartitions: 2 }] }) })
  await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] })
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  tell('partitions', { ids: topics[0].partitions.map(({ partitionId }) => partitionId).sort() })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  await producer.send({
    topic,
    messages: [1000, 2000, 3000].map((time) => ({ value: `${time}`, partition: 0, timestamp: `${time}` })),
  })
  await producer.disconnect()
  const watermarks = await admin.fetchTopicOffsets(topic)
  tell('watermarks', { of0: watermarks.find(({ partition }) => partition === 0) })
  const atTime = await admin.fetchTopicOffsetsByTimestamp(topic, 1500)
  tell('at 1500', { of0: atTime.find(({ partition }) => partition === 0) })
  await admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '2' }] })
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] })
  tell('offsets', { of0: offsets.partitions.find(({ partition }) => partition === 0) })
  const { groups } = await admin.describeGroups([groupId])
  tell('group', { state: groups[0].state, errorCode: groups[0].errorCode })
  const type = ConfigResourceTypes.TOPIC
  await admin.alterConfigs({
    resources: [{ type, name: topic, configEntries: [{ name: 'retention.ms', value: '5000' }] }],
  })
  const described = await admin.describeConfigs({ resources: [{ type, name: topic, configNames: ['retention.ms'] }] })
  tell('config', { value: described.resources[0].configEntries[0].configValue })
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] })
  const left = await admin.fetchTopicOffsets(topic)
  tell('after deletion', { of0: left.find(({ partition }) => partition === 0) })
  await admin.deleteGroups([groupId])
  await admin.deleteTopics({ topics: [topic] })
  tell('left', { topics: await admin.listTopics(), groups: (await admin.listGroups()).groups })
  await admin.disconnect()
}

await main({ produce, group, admin })
