// kafkajs: sends are requests of their own (no accumulator); eachMessage or eachBatch.
import { folder, load } from './peers.mjs'

export const name = 'kafkajs'
export const install = { dir: folder('kafkajs'), module: 'kafkajs' }

function client(job) {
  process.env.KAFKAJS_NO_PARTITIONER_WARNING = '1'
  const { Kafka, logLevel } = load('kafkajs', 'kafkajs')
  return new Kafka({ brokers: job.brokers, clientId: 'b', logLevel: logLevel.ERROR })
}
const codec = (job) => {
  const known = { none: 0, gzip: 1 }
  if (!(job.compression in known)) throw new Error(`kafkajs has no ${job.compression} in the box`)
  return known[job.compression]
}
const record = (job, i) => ({ key: job.key(i), value: job.value(i), partition: job.partition })

async function producer(job) {
  const p = client(job).producer()
  await p.connect()
  return {
    send: (messages) => p.send({ topic: job.topic, acks: job.acks, compression: codec(job), messages }),
    close: () => p.disconnect(),
  }
}
async function subscribe(job, handlers) {
  const c = client(job).consumer({ groupId: job.group })
  await c.connect()
  await c.subscribe({ topic: job.topic, fromBeginning: true })
  await c.run({ autoCommit: false, ...handlers })
  return c
}
const eachMessage = (handle) => ({
  eachMessage: async ({ message }) => {
    handle(message.value)
  },
})

export async function produce(job) {
  const { send, close } = await producer(job)
  await job.produce((i) => record(job, i), send)
  await close()
}

export async function single(job) {
  const { send, close } = await producer(job)
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
  const { send, close } = await producer(job)
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
