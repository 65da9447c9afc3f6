#!/usr/bin/env node
// Workloads x clients x Nodes, every run in a process of its own, the clients in turn within each round. Prints Markdown tables and
// writes every run to a JSON file. Options and the driver interface: README.md.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Connection, endOffsets } from './ceiling/connection.mjs'
import { startFastBroker, useCluster } from './lib/brokers.mjs'
import { killAll } from './lib/child.mjs'
import { loadClients, modeOf } from './lib/clients.mjs'
import { runOnce } from './lib/one-run.mjs'
import { values } from './lib/payload.mjs'
import { tables } from './lib/tables.mjs'
import { scaled, workloads } from './lib/workloads.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const { values: options } = parseArgs({
  options: {
    peers: { type: 'string', default: process.env.BENCH_PEERS ?? join(here, 'node_modules', '.peers') },
    clients: { type: 'string' },
    cases: { type: 'string' },
    runs: { type: 'string', default: '3' },
    scale: { type: 'string', default: '1' },
    timeout: { type: 'string', default: '180' },
    node: { type: 'string', multiple: true, default: [process.execPath] },
    'client-module': { type: 'string', multiple: true, default: [] },
    baseline: { type: 'string', default: 'kafkajs' },
    brokers: { type: 'string' },
    acks: { type: 'string', default: '1' },
    compression: { type: 'string', default: 'none' },
    out: { type: 'string', default: join(here, 'results', 'latest.json') },
    list: { type: 'boolean', default: false },
  },
})
const note = (message) => process.stderr.write(message + '\n')
function fail(message) {
  note(message)
  process.exit(2)
}
function positive(name) {
  const n = Number(options[name])
  return n > 0 ? n : fail(`--${name} must be a positive number, got ${options[name]}`)
}
function chosen(all, asked, what) {
  const names = asked === undefined ? [...all.keys()] : asked.split(',')
  const unknown = names.find((name) => !all.has(name))
  if (unknown !== undefined) fail(`no ${what} named ${unknown}; there are: ${[...all.keys()].join(', ')}`)
  return names.map((name) => all.get(name))
}

const runs = Math.ceil(positive('runs'))
const scale = positive('scale')
const timeoutMs = positive('timeout') * 1000
const peers = resolve(options.peers)
if (!existsSync(peers)) fail(`nothing is set up in ${peers}: node bench/setup.mjs, or --peers FOLDER`)
process.env.BENCH_PEERS = peers

const clients = await loadClients(peers, options['client-module'], note)
if (options.list) {
  console.log(`clients: ${[...clients.keys()].join(', ')}\ncases: ${Object.keys(workloads).join(', ')}`)
  process.exit(0)
}
const selected = new Set(chosen(clients, options.clients, 'client'))
for (const client of clients.values()) {
  if (options['client-module'].some((module) => resolve(module) === client.file)) selected.add(client)
}
const byId = new Map(Object.entries(workloads).map(([id, workload]) => [id, { id, ...scaled(workload, scale) }]))
const { compression } = options
const cases = chosen(byId, options.cases, 'case').map((one) => ({ ...one, acks: Number(options.acks), compression }))

const broker = await (options.brokers === undefined
  ? startFastBroker(join(peers, 'fast-broker'))
  : useCluster(options.brokers.split(',')))
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    killAll()
    broker.stop()
    process.exit(130)
  })
}
const connection = await Connection.open(broker.addresses[0])

/** The topics that are read, by what is in them; written once, in batches of the size that Java's client makes by default. */
const loadedTopics = new Map()
async function loaded({ records, valueBytes, loadedBatch }) {
  const key = `${records} x ${valueBytes}`
  if (!loadedTopics.has(key)) {
    const { load } = await import('./drivers/ceiling.mjs')
    const topic = broker.stored(1)
    await broker.create(topic, 1)
    const bytes = values(valueBytes).map((text) => Buffer.from(text))
    await load(broker.addresses[0], topic, bytes, records, loadedBatch)
    const [end] = await endOffsets(connection, topic)
    if (end !== records) throw new Error(`${topic} holds ${end} records instead of ${records}`)
    loadedTopics.set(key, topic)
  }
  return loadedTopics.get(key)
}

const results = []
async function one(workload, run, { client, node, mode }) {
  const spec = mode === '' ? workload : { ...workload, mode }
  const result = await runOnce({ broker, connection, timeoutMs }, client, node, spec)
  const where = result.node ?? (node === undefined ? 'C' : 'unknown')
  results.push({ case: workload.id, run, client: client.name, mode, ...result, node: where })
  note(`${run}/${runs} ${workload.id} ${client.name}: ${result.error ?? JSON.stringify(result)}`)
}

try {
  for (const each of cases) {
    const workload = each.kind === 'consume' ? { ...each, loadedTopic: await loaded(each) } : each
    const jobs = [...selected].flatMap((client) => {
      const mode = modeOf(client, workload)
      if (mode === undefined) return []
      const nodes = client.program === undefined ? options.node : [undefined]
      return nodes.map((node) => ({ client, node, mode }))
    })
    for (let run = 1; run <= runs; run++) {
      if (workload.together) await Promise.all(jobs.map((job) => one(workload, run, job)))
      else for (const job of jobs) await one(workload, run, job)
    }
  }
} finally {
  for (const topic of loadedTopics.values()) await broker.remove(topic)
  connection.close()
  broker.stop()
}

const [cpu] = os.cpus()
const machine = {
  cpu: cpu.model,
  cores: os.cpus().length,
  memoryGiB: Math.round(os.totalmem() / 2 ** 30),
  loadAverage: os.loadavg(),
}
const baseline = clients.get(options.baseline)?.name ?? options.baseline
const about = { date: new Date().toISOString(), machine, broker: broker.name, baseline, runs, scale, cases }
mkdirSync(dirname(resolve(options.out)), { recursive: true })
// A run a line.
const listed = results.map((result) => `    ${JSON.stringify(result)}`).join(',\n')
writeFileSync(options.out, `${JSON.stringify(about, null, 2).slice(0, -2)},\n  "results": [\n${listed}\n  ]\n}\n`)
console.log(tables({ ...about, results }))
note(`every run: ${options.out}`)
if (results.some((result) => result.error !== undefined)) process.exitCode = 1
