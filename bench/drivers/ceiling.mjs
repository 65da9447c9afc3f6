// The speed ceiling: no client, but the shortest way in JavaScript from records to bytes on the wire and back. It knows one broker,
// never tries again, has no groups, and reads partition 0 from its start.
import { Connection, endOffsets, metadata } from '../ceiling/connection.mjs'
import { slicingBy16 } from '../ceiling/crc32c.mjs'
import { partitionOf } from '../ceiling/key-partition.mjs'
import { batchLength, nextOffset, readBatches, writeBatch } from '../ceiling/record-batch.mjs'

const PRODUCE = 0
const FETCH = 1
const FETCH_BYTES = 1 << 20
const LINGER_BYTES = 1 << 16

export const name = 'ceiling'
const crc = { current: slicingBy16 }
export function useCrc(implementation) {
  crc.current = implementation
}

async function connect(job) {
  const connection = await Connection.open(job.brokers[0])
  const { nodes, leaders } = await metadata(connection, job.topic)
  if (nodes.size !== 1) throw new Error('the ceiling knows one broker only')
  return { connection, partitions: leaders.length }
}

// Request buffers are taken from a free list and put back when the response is there: no allocation, no zeroing.
const free = []
function requestBuffer(length) {
  const buf = free.pop()
  return buf !== undefined && buf.length >= length ? buf : Buffer.allocUnsafeSlow(Math.max(length, 1 << 15))
}

// One Produce request (version 7) with one batch per [partition, records], header to last record in one buffer.
// `answered` is called when it is acknowledged.
function produceRequest(connection, topic, sets, acks, answered) {
  const lengths = sets.map(([, records]) => batchLength(records))
  let total = 15 + 2 + 2 + 4 + 4 + 2 + topic.length + 4
  for (const length of lengths) total += 8 + length
  const buf = requestBuffer(total)
  let p = connection.header(buf, PRODUCE, 7)
  p = buf.writeInt16BE(-1, p) // transactional id
  p = buf.writeInt16BE(acks, p)
  p = buf.writeInt32BE(30_000, p)
  p = buf.writeInt32BE(1, p)
  p = buf.writeInt16BE(topic.length, p)
  p += buf.latin1Write(topic, p)
  p = buf.writeInt32BE(sets.length, p)
  const timestamp = Date.now()
  for (let i = 0; i < sets.length; i++) {
    p = buf.writeInt32BE(sets[i][0], p)
    p = buf.writeInt32BE(lengths[i], p)
    p = writeBatch(buf, p, sets[i][1], lengths[i], timestamp, crc.current)
  }
  connection.send(buf, p, (response) => {
    free.push(buf)
    let at = 4 + 4 + 2 + topic.length
    for (let n = response.readInt32BE(at), q = at + 4; n > 0; n--, q += 30) {
      const error = response.readInt16BE(q + 4)
      if (error !== 0) throw new Error(`produce to partition ${response.readInt32BE(q)} failed with error ${error}`)
    }
    answered()
  })
}

// Fills partition 0 of a topic for the consumers of the bench, `perBatch` records to a batch, 20 batches at a time.
export async function load(address, topic, values, records, perBatch) {
  const connection = await Connection.open(address)
  const batch = (first) =>
    Array.from({ length: Math.min(perBatch, records - first) }, (_, i) => ({
      key: undefined,
      value: values[(first + i) % values.length],
    }))
  for (let first = 0; first < records;) {
    const sends = []
    for (let i = 0; i < 20 && first < records; i++, first += perBatch) {
      const set = [0, batch(first)]
      sends.push(new Promise((resolve) => produceRequest(connection, topic, [set], 1, resolve)))
    }
    await Promise.all(sends)
  }
  connection.close()
}

function byPartition(records, partitions) {
  const sets = []
  const of = new Array(partitions)
  for (const record of records) {
    const partition = partitionOf(record.key, partitions)
    if (of[partition] === undefined) sets.push([partition, (of[partition] = [])])
    of[partition].push(record)
  }
  return sets
}

export async function produce(job) {
  const { connection, partitions } = await connect(job)
  await job.produce(
    (i) => ({ key: job.key(i), value: job.value(i) }),
    (records) =>
      new Promise((resolve) => {
        produceRequest(
          connection,
          job.topic,
          job.keyed ? byPartition(records, partitions) : [[0, records]],
          job.acks,
          resolve,
        )
      }),
  )
  connection.close()
}

// One promise per record, but one timer, one request and one pass of resolving per batch.
export async function single(job) {
  const { connection } = await connect(job)
  let records = [],
    resolvers = [],
    bytes = 0,
    timer
  function flush() {
    clearTimeout(timer)
    timer = undefined
    const settled = resolvers
    produceRequest(connection, job.topic, [[0, records]], job.acks, () => {
      for (const resolve of settled) resolve()
    })
    records = []
    resolvers = []
    bytes = 0
  }
  await job.single(
    (i) =>
      new Promise((resolve) => {
        const value = job.value(i)
        records.push({ key: undefined, value })
        resolvers.push(resolve)
        bytes += value.length
        if (bytes >= LINGER_BYTES || records.length >= job.window / 2) flush()
        else timer ??= setTimeout(flush, job.lingerMs)
      }),
  )
  connection.close()
}

// Yields the records of one response after another; the next fetch is under way while one is decoded and handled.
async function* responses(connection, job) {
  const end = (await endOffsets(connection, job.topic))[0]
  const request = (offset) =>
    new Promise((resolve) => {
      const buf = requestBuffer(256)
      let p = connection.header(buf, FETCH, 4)
      p = buf.writeInt32BE(-1, p) // replica
      p = buf.writeInt32BE(500, p) // max wait
      p = buf.writeInt32BE(1, p) // min bytes
      p = buf.writeInt32BE(50 << 20, p) // max bytes
      p = buf.writeInt8(0, p) // isolation
      p = buf.writeInt32BE(1, p)
      p = buf.writeInt16BE(job.topic.length, p)
      p += buf.latin1Write(job.topic, p)
      p = buf.writeInt32BE(1, p)
      p = buf.writeInt32BE(0, p)
      p = buf.writeBigInt64BE(BigInt(offset), p)
      p = buf.writeInt32BE(FETCH_BYTES, p)
      connection.send(buf, p, (frame) => {
        free.push(buf)
        resolve(frame)
      })
    })
  let offset = 0
  for (let coming = request(0); offset < end;) {
    const frame = await coming
    let p = 4 + 4 + 4 + 2 + job.topic.length + 4 + 4 // correlation, throttle, topics, name, partitions, index
    const error = frame.readInt16BE(p)
    if (error !== 0) throw new Error(`fetch failed with error ${error}`)
    p += 2 + 8 + 8
    p += 4 + 16 * Math.max(0, frame.readInt32BE(p)) // aborted transactions
    const recordsEnd = p + 4 + frame.readInt32BE(p)
    offset = nextOffset(frame, p + 4, recordsEnd, offset)
    if (offset < end) coming = request(offset)
    yield readBatches(frame, p + 4, recordsEnd, crc.current)
  }
}

// Record by record without an await's worth of machinery per record: next() hands out a promise that is already resolved.
function recordByRecord(batches) {
  let records = [],
    at = 0
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      if (at < records.length) return Promise.resolve({ value: records[at++], done: false })
      return batches.next().then(({ value, done }) => {
        if (done) return { value: undefined, done: true }
        records = value
        at = 0
        return this.next()
      })
    },
  }
}

export const modes = ['batch', 'record']
export async function consume(job) {
  const { connection } = await connect(job)
  const batches = responses(connection, job)
  if (job.mode === 'batch') for await (const records of batches) for (const record of records) job.seen(record.value)
  else for await (const record of recordByRecord(batches)) job.seen(record.value)
  connection.close()
}
