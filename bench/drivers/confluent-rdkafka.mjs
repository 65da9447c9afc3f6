// @confluentinc/kafka-javascript through its lower, node-rdkafka-like API: produce() with delivery reports, consume().
import { install, library } from './confluent.mjs'

export const name = 'confluent-rdkafka'
export { install }

async function producer(job, lingerMs) {
  const { Producer } = library()
  const p = new Producer(
    {
      'metadata.broker.list': job.brokers.join(),
      'client.id': 'b',
      dr_cb: true,
      'linger.ms': lingerMs,
      'compression.codec': job.compression,
      'queue.buffering.max.messages': 1_000_000,
      'queue.buffering.max.kbytes': 2_000_000,
    },
    { acks: job.acks, partitioner: 'murmur2_random' },
  )
  await new Promise((resolve, reject) => {
    p.on('ready', resolve)
    p.on('event.error', reject)
    p.connect()
  })
  p.setPollInBackground(true)
  p.on('delivery-report', (error, { opaque: sent }) => {
    sent.error ??= error
    if (--sent.left > 0) return
    if (sent.error) sent.reject(sent.error)
    else sent.resolve()
  })
  const send = (records) =>
    new Promise((resolve, reject) => {
      const sent = { left: records.length, resolve, reject, error: null }
      for (const { key, value } of records) p.produce(job.topic, job.partition, value, key, null, sent)
    })
  return { send, close: () => new Promise((resolve) => p.disconnect(1000, resolve)) }
}
async function subscribe(job) {
  const { KafkaConsumer } = library()
  // librdkafka's default pauses fetching for 1 s when its queue of small records is full
  const c = new KafkaConsumer(
    {
      'metadata.broker.list': job.brokers.join(),
      'client.id': 'b',
      'group.id': job.group,
      'enable.auto.commit': false,
      'fetch.queue.backoff.ms': 10,
    },
    { 'auto.offset.reset': 'earliest' },
  )
  await new Promise((resolve, reject) => {
    c.on('ready', resolve)
    c.on('event.error', reject)
    c.connect()
  })
  c.subscribe([job.topic])
  return { c, close: () => new Promise((resolve) => c.disconnect(resolve)) }
}
const record = (job, i) => ({ key: job.key(i), value: job.value(i) })

export async function produce(job) {
  const { send, close } = await producer(job, 5)
  await job.produce((i) => record(job, i), send)
  await close()
}

export async function single(job) {
  const { send, close } = await producer(job, job.lingerMs)
  await job.single((i) => send([record(job, i)]))
  await close()
}

export const modes = ['batch', 'record']
export async function consume(job) {
  const { c, close } = await subscribe(job)
  let stopped = false
  const next = () =>
    c.consume(1000, (error, messages) => {
      if (stopped) return
      if (error) throw error
      for (const message of messages) job.seen(message.value)
      next()
    })
  if (job.mode === 'batch') next()
  else {
    c.on('data', (message) => job.seen(message.value))
    c.consume()
  }
  await job.done
  stopped = true
  await close()
}

export async function latency(job) {
  const { send, close } = await producer(job, 0)
  await send([{ value: job.stampZero() }])
  const consumer = await subscribe(job)
  consumer.c.on('data', (message) => job.received(message.value))
  consumer.c.consume()
  await job.pace((value) => send([{ value }]))
  await consumer.close()
  await close()
}

export async function idle(job) {
  const { c, close } = await subscribe(job)
  c.on('data', () => {})
  c.consume()
  await job.rest()
  await close()
}
