// kafka-ts: strings only, always idempotent with acks=all, cannot compress; batch handler only.
import { folder, load } from './peers.mjs'

export const name = 'kafka-ts'
export const install = { dir: folder('kafka-ts'), module: 'kafka-ts' }
export const payload = 'text'

function client(job) {
  const { createKafkaClient, setLogger } = load('kafka-ts', 'kafka-ts')
  setLogger({ debug() {}, info() {}, warn: console.error, error: console.error })
  const [host, port] = job.brokers[0].split(':')
  return createKafkaClient({ clientId: 'b', bootstrapServers: [{ host, port: Number(port) }] })
}
function producer(job) {
  if (job.compression !== 'none') throw new Error('kafka-ts cannot compress')
  return client(job).createProducer({ maxBatchSize: 500, allowTopicAutoCreation: true })
}
const subscribe = (job, onBatch) =>
  client(job).startConsumer({
    groupId: job.group,
    topics: [job.topic],
    fromTimestamp: -2n,
    allowTopicAutoCreation: true,
    onBatch,
  })
const record = (job, i) => ({ topic: job.topic, key: job.key(i), value: job.value(i), partition: job.partition })

export async function produce(job) {
  const p = producer(job)
  await job.produce(
    (i) => record(job, i),
    (messages) => p.send(messages),
  )
  await p.close()
}

export async function single(job) {
  const p = producer(job)
  await job.single((i) => p.send([record(job, i)]))
  await p.close()
}

export const modes = ['batch']
export async function consume(job) {
  const c = await subscribe(job, (messages) => {
    for (const message of messages) job.seen(message.value)
  })
  await job.done
  await c.close()
}

export async function latency(job) {
  const p = producer(job)
  const send = (value) => p.send([{ topic: job.topic, value, partition: 0 }])
  await send(job.stampZero())
  const c = await subscribe(job, (messages) => {
    for (const message of messages) job.received(message.value)
  })
  await job.pace(send)
  await c.close()
  await p.close()
}

export async function idle(job) {
  const c = await subscribe(job, () => {})
  await job.rest()
  await c.close()
}
