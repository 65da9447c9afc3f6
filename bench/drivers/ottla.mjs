// ottla as it is built and published (run `npm run build` first), by its own package name. Its defaults stay on: idempotent with
// acks 'all', which is more than the acks=1 that the other clients are asked for; only --acks 0 turns it off.
import { existsSync } from 'node:fs'
import { folder } from './peers.mjs'

export const name = 'ottla'
/** For the import case, as it would come from npm; only where it was set up. */
export const install = existsSync(folder('ottla')) ? { dir: folder('ottla'), module: 'ottla' } : undefined

const library = () => import('ottla')
const record = (job, i) => ({ key: job.key(i), value: job.value(i), partition: job.partition })

async function producer(job, lingerMs) {
  const { Producer } = await library()
  const { brokers, acks, compression } = job
  return new Producer({ clientId: 'b', brokers, acks: acks === 0 ? 0 : 'all', compression, lingerMs })
}
async function member(job) {
  const { GroupMember } = await library()
  const { brokers, group, topic } = job
  return new GroupMember({ clientId: 'b', brokers, group, topics: [topic], from: 'beginning', commit: 'manual' })
}

export async function produce(job) {
  const p = await producer(job, 0)
  await job.produce(
    (i) => record(job, i),
    (messages) => p.send(job.topic, messages),
  )
  await p.close()
}

export async function single(job) {
  const p = await producer(job, job.lingerMs)
  await job.single((i) => p.send(job.topic, record(job, i)))
  await p.close()
}

export const modes = ['batch', 'record']
export async function consume(job) {
  const m = await member(job)
  if (job.mode === 'batch') await byBatch(job, m)
  else for await (const { value } of m) if (job.seen(value)) break
  await m.close()
}
async function byBatch(job, m) {
  let isLast = false
  for await (const batch of m.batches()) {
    for (const { value } of batch) isLast = job.seen(value)
    if (isLast) break
  }
}

export async function latency(job) {
  const p = await producer(job, 0)
  const send = (value) => p.send(job.topic, { value, partition: 0 })
  await send(job.stampZero())
  const m = await member(job)
  const reading = (async () => {
    for await (const { value } of m) job.received(value)
  })()
  await job.pace(send)
  await m.close()
  await reading
  await p.close()
}

export async function idle(job) {
  const m = await member(job)
  const reading = (async () => {
    for await (const { value } of m) throw new Error(`an empty topic has a record: ${value}`)
  })()
  await job.rest()
  await m.close()
  await reading
}
