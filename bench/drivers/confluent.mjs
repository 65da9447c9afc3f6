// @confluentinc/kafka-javascript (native, on librdkafka) through its kafkajs-like API. Lingers 5 ms, librdkafka's default,
// which bounds it when few records are in flight: look at its CPU there.
import { folder, load } from './peers.mjs'

export const name = 'confluent'
export const install = {
  dir: folder(`confluent-${process.versions.modules}`),
  module: '@confluentinc/kafka-javascript',
}

export const library = () => load(`confluent-${process.versions.modules}`, '@confluentinc/kafka-javascript')
const record = (job, i) => ({ key: job.key(i), value: job.value(i), partition: job.partition })

function client(job) {
  const { KafkaJS } = library()
  return new KafkaJS.Kafka({ kafkaJS: { brokers: job.brokers, clientId: 'b', logLevel: KafkaJS.logLevel.ERROR } })
}
async function producer(job, lingerMs) {
  const compression = job.compression === 'none' ? {} : { compression: job.compression }
  const p = client(job).producer({
    kafkaJS: { acks: job.acks, ...compression },
    'linger.ms': lingerMs,
    'queue.buffering.max.messages': 1_000_000,
    partitioner: 'murmur2_random',
  })
  await p.connect()
  return { send: (messages) => p.send({ topic: job.topic, messages }), close: () => p.disconnect() }
}
async function subscribe(job, handlers) {
  const c = client(job).consumer({ kafkaJS: { groupId: job.group, fromBeginning: true, autoCommit: false } })
  await c.connect()
  await c.subscribe({ topic: job.topic })
  await c.run(handlers)
  return c
}
const eachMessage = (handle) => ({
  eachMessage: async ({ message }) => {
    handle(message.value)
  },
})

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
  const c = await subscribe(
    job,
    job.mode === 'record'
      ? eachMessage(job.seen)
      : {
          eachBatch: async ({ batch }) => {
            for (const message of batch.messages) job.seen(message.value)
          },
        },
  )
  await job.done
  await c.disconnect()
}

export async function latency(job) {
  const { send, close } = await producer(job, 0)
  await send([{ value: job.stampZero(), partition: 0 }])
  const c = await subscribe(job, eachMessage(job.received))
  await job.pace((value) => send([{ value, partition: 0 }]))
  await c.disconnect()
  await close()
}

export async function idle(job) {
  const c = await subscribe(
    job,
    eachMessage(() => {}),
  )
  await job.rest()
  await c.disconnect()
}
