// @platformatic/kafka: producer and its batching stream; one consumer, an object stream read with for await. Its default
// Fetch size (50 MiB) makes it several times slower on a backlog, so it is given 1 MiB here; its default partitioner puts
// keys elsewhere than Java's client does, so it is given the compatible one.
import { folder, loadEsm } from './peers.mjs'

export const name = 'platformatic'
export const install = { dir: folder('platformatic'), module: '@platformatic/kafka' }

// It asks for Node 22; on Node 20 this is all that it misses.
Promise.withResolvers ??= function () {
  let resolve, reject
  const promise = new Promise((a, b) => {
    resolve = a
    reject = b
  })
  return { promise, resolve, reject }
}

const library = () => loadEsm('platformatic', '@platformatic/kafka')
const record = (job, i) => ({ topic: job.topic, key: job.key(i), value: job.value(i), partition: job.partition })

async function producer(job) {
  const { Producer, compatibilityPartitioner } = await library()
  return new Producer({
    clientId: 'b',
    bootstrapBrokers: job.brokers,
    acks: job.acks,
    compression: job.compression,
    partitioner: compatibilityPartitioner,
  })
}
async function subscribe(job) {
  const { Consumer } = await library()
  const c = new Consumer({
    clientId: 'b',
    groupId: job.group,
    bootstrapBrokers: job.brokers,
    autocommit: false,
    maxBytes: 1 << 20,
  })
  return { c, stream: await c.consume({ topics: [job.topic], mode: 'earliest' }) }
}

export async function produce(job) {
  const p = await producer(job)
  await job.produce(
    (i) => record(job, i),
    (messages) => p.send({ messages }),
  )
  await p.close(true)
}

export async function single(job) {
  const p = await producer(job)
  await job.single((i) => p.send({ messages: [record(job, i)] }))
  await p.close(true)
}

export async function stream(job) {
  const p = await producer(job)
  await p.send({ messages: [record(job, 0)] })
  const s = p.asStream({ batchSize: 1000, batchTime: job.lingerMs, reportMode: 'batch', highWaterMark: 10_000 })
  let acknowledged = 0,
    settle
  const all = new Promise((resolve, reject) => {
    settle = resolve
    s.on('error', reject)
  })
  const onReport = (report) => {
    if ((acknowledged += report.count) >= job.records) settle()
  }
  s.on('delivery-report', onReport)
  s.on('data', onReport)
  job.begin()
  for (let i = 0; i < job.records; i++) {
    if (!s.write(record(job, i))) await new Promise((resolve) => s.once('drain', resolve))
  }
  s.end()
  await all
  job.end({ records: job.records, warmup: 1 })
  await p.close(true)
}

export const modes = ['record']
export async function consume(job) {
  const { c, stream } = await subscribe(job)
  for await (const message of stream) if (job.seen(message.value)) break
  await c.close(true)
}

export async function latency(job) {
  const p = await producer(job)
  const send = (value) => p.send({ messages: [{ topic: job.topic, value, partition: 0 }] })
  await send(job.stampZero())
  const { c, stream } = await subscribe(job)
  stream.on('data', (message) => job.received(message.value))
  await job.pace(send)
  await c.close(true)
  await p.close(true)
}

export async function idle(job) {
  const { c, stream } = await subscribe(job)
  stream.on('data', () => {})
  await job.rest()
  await c.close(true)
}
