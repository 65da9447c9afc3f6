// What the clients are put through. `kind` is the driver's function that does the work, `title` the heading of the table.
const produce = { kind: 'produce', perSend: 100, window: 5, partitions: 1 }
const oneByOne = { records: 100_000, valueBytes: 100, partitions: 1, window: 1000, lingerMs: 5 }
const consume = { kind: 'consume', partitions: 1 }
const small = { records: 1_000_000, valueBytes: 100 }
const large = { records: 200_000, valueBytes: 1024 }
/** What a batch of 16 KiB, Java's default, holds of such records. */
const smallPerBatch = 140
const largePerBatch = 16

export const workloads = {
  'produce-100b': { ...produce, ...small, title: 'Produce 100 B: 100 records per send, 5 sends in flight' },
  'produce-1k': { ...produce, ...large, title: 'Produce 1 KiB: 100 records per send, 5 sends in flight' },
  'produce-keyed': {
    ...produce,
    ...small,
    partitions: 12,
    keyed: true,
    title: 'Produce 100 B by key over 12 partitions: 100 records per send, 5 sends in flight',
  },
  'single-100b': {
    ...oneByOne,
    kind: 'single',
    title: 'One send and one promise per record: 100 B, at most 1,000 outstanding',
  },
  'stream-100b': { ...oneByOne, kind: 'stream', title: "One write to the client's stream per record: 100 B" },
  'consume-record-100b': {
    ...consume,
    ...small,
    mode: 'record',
    loadedBatch: smallPerBatch,
    title: 'Consume 100 B, record by record',
  },
  'consume-batch-100b': {
    ...consume,
    ...small,
    mode: 'batch',
    loadedBatch: smallPerBatch,
    title: 'Consume 100 B, batch by batch',
  },
  'consume-1k': {
    ...consume,
    ...large,
    mode: 'any',
    loadedBatch: largePerBatch,
    title: "Consume 1 KiB, in the client's best mode",
  },
  latency: {
    kind: 'latency',
    valueBytes: 100,
    partitions: 1,
    rate: 100,
    seconds: 5,
    warmSeconds: 1,
    title: 'Latency from send to handler in one process: 100 records/s, no linger',
  },
  idle: {
    kind: 'idle',
    partitions: 1,
    seconds: 10,
    settleSeconds: 5,
    together: true,
    title: 'An idle group member on an empty topic: CPU in 10 s',
  },
  import: { kind: 'import', title: 'Time of the first import, and what is installed' },
}

/** The workload at a part of its size. Times of rest shrink less: below a second they say nothing. */
export function scaled(workload, scale) {
  const own = { ...workload }
  if (own.records !== undefined) own.records = Math.max(1000, Math.round((own.records * scale) / 1000) * 1000)
  if (scale >= 1) return own
  for (const name of ['seconds', 'warmSeconds', 'settleSeconds']) {
    if (own[name] !== undefined) own[name] = Math.max(1, Math.round(own[name] * scale))
  }
  return own
}
