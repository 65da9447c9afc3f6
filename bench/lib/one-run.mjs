// One run: a topic for it, the client in a process of its own, and a look at whether it did what it says.
import { randomUUID } from 'node:crypto'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { endOffsets } from '../ceiling/connection.mjs'
import { partitionOf } from '../ceiling/key-partition.mjs'
import { resultOf } from './child.mjs'
import { installedSize } from './installed-size.mjs'
import { keyCount, keys } from './payload.mjs'

const clientProcess = fileURLToPath(new URL('client-process.mjs', import.meta.url))
const isWriting = ({ kind }) => kind === 'produce' || kind === 'single' || kind === 'stream'

export async function runOnce({ broker, connection, timeoutMs }, client, node, workload) {
  if (workload.kind === 'import') return importOnce(client, node, timeoutMs)
  const { partitions, loadedTopic } = workload
  const topic = loadedTopic ?? (isWriting(workload) ? broker.sink(partitions) : broker.stored(partitions))
  if (loadedTopic === undefined) await broker.create(topic, partitions)
  // Clients that run side by side would share the broker's counters.
  const isCounted = broker.counters !== undefined && !workload.together
  if (isCounted) await broker.counters()
  const cpuBefore = broker.cpuSeconds?.()
  const spec = { ...workload, topic, brokers: broker.addresses }
  const result = await resultOf(commandOf(client, node, spec), { timeoutMs })
  if (isCounted) {
    result.brokerCpuSeconds = broker.cpuSeconds() - cpuBefore
    result.requests = await broker.counters()
  }
  result.error ??= await whatIsWrong(connection, spec, result)
  if (loadedTopic === undefined) await broker.remove(topic)
  return result
}

function commandOf(client, node, spec) {
  const { program, file } = client
  if (program === undefined) return [node, [clientProcess, JSON.stringify({ ...spec, driverFile: file })]]
  const { kind, brokers, topic, records, valueBytes, keyed, mode } = spec
  const rest = kind === 'produce' ? [String(valueBytes), keyed ? 'keyed' : 'plain'] : [`bench-${randomUUID()}`, mode]
  return [program, [kind, brokers.join(), topic, String(records), ...rest]]
}

async function whatIsWrong(connection, spec, { failed, records, bytes, warmup }) {
  if (failed > 0) return `${failed} deliveries failed`
  if (spec.kind === 'consume') {
    const wanted = spec.records * spec.valueBytes
    if (records === spec.records && bytes === wanted) return undefined
    return `gave out ${records} records of ${bytes} bytes instead of ${spec.records} of ${wanted}`
  }
  if (!isWriting(spec)) return undefined
  if (records !== spec.records) return `sent ${records} records instead of ${spec.records}`
  const ends = (await endOffsets(connection, spec.topic)).join()
  const wanted = expectedEnds(spec, warmup).join()
  return ends === wanted ? undefined : `the broker has [${ends}] records by partition instead of [${wanted}]`
}

/** What each partition holds when the warm-up and the run are written. */
function expectedEnds({ partitions, keyed, records }, warmup) {
  const ends = new Array(partitions).fill(0)
  if (!keyed) {
    ends[0] = records + warmup
    return ends
  }
  const partitionOfKey = keys.map((key) => partitionOf(Buffer.from(key), partitions))
  for (const count of [warmup, records]) {
    for (let i = 0; i < count; i++) ends[partitionOfKey[i & (keyCount - 1)]]++
  }
  return ends
}

async function importOnce(client, node, timeoutMs) {
  const printing = (code) => ['--input-type=module', '-e', `${code}; console.log(JSON.stringify(result))`]
  // Asked of the Node in question, since a native client has a folder for each.
  const where = printing(`import { install as result } from ${JSON.stringify(pathToFileURL(client.file))}`)
  const { dir, module, error } = await resultOf([node, where], { timeoutMs })
  if (error !== undefined) return { error }
  const timing = printing(
    `const began = performance.now(); await import('${module}'); ` +
      'const result = { importMs: performance.now() - began, node: process.versions.node }',
  )
  const result = await resultOf([node, timing], { cwd: dir, timeoutMs })
  return result.error === undefined ? { ...result, ...installedSize(dir) } : result
}
