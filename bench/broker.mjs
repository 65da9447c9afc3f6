#!/usr/bin/env node
// ottla's own broker: how soon it is there, and what records cost it when C clients send and read them. Prints a Markdown table and
// writes the figures to a JSON file. Measures the built package.
//   node bench/broker.mjs [--peers FOLDER] [--runs N] [--scale F] [--out FILE]
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { killAll, resultOf } from './lib/child.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    peers: { type: 'string', default: process.env.BENCH_PEERS ?? join(here, 'node_modules', '.peers') },
    runs: { type: 'string', default: '3' },
    scale: { type: 'string', default: '1' },
    out: { type: 'string', default: join(here, 'results', 'broker.json') },
  },
})
const runs = Number(options.runs)
const scale = Number(options.scale)
const records = Math.max(1000, Math.round(1_000_000 * scale))
const valueBytes = 100
const starts = Math.max(10, Math.round(1000 * scale))
const timeoutMs = 120_000
const client = join(resolve(options.peers), 'librdkafka-client')
const command = resolve(here, '..', 'dist', 'cli', 'ottla.js')

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]
const ms = (from) => performance.now() - from
const turn = () => new Promise((done) => setImmediate(done))

/** The first figures of a fresh process: what a test run meets. Run by this script with the argument `fresh`. */
async function startTimes() {
  const { startBroker } = await import('ottla/broker')
  const { Producer } = await import('ottla')
  const once = async () => {
    const began = performance.now()
    const broker = await startBroker({ topics: { t: 1 } })
    const listeningMs = ms(began)
    const producer = new Producer({ brokers: broker.brokers })
    await producer.send('t', { value: 'x' })
    const ackMs = ms(began)
    await producer.close()
    await broker.close()
    await turn()
    return { listeningMs, ackMs }
  }
  const first = await once()
  const warm = []
  for (let i = 0; i < 20; i++) warm.push(await once())
  const began = performance.now()
  const { user, system } = process.cpuUsage()
  for (let i = 0; i < starts; i++) {
    const broker = await startBroker({ topics: { t: 1 } })
    await broker.close()
  }
  const startsMs = ms(began)
  const used = process.cpuUsage({ user, system })
  await turn()
  await turn()
  return {
    firstListeningMs: first.listeningMs,
    firstAckMs: first.ackMs,
    warmListeningMs: median(warm.map(({ listeningMs }) => listeningMs)),
    warmAckMs: median(warm.map(({ ackMs }) => ackMs)),
    starts,
    startsMs,
    startsCpuMs: (used.user + used.system) / 1000,
    left: process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP') || name === 'Timeout').length,
  }
}

/** The broker as a command, in a process of its own whose CPU time can be read from outside. */
async function runBroker() {
  const child = spawn(process.execPath, [command, 'broker', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  const address = await new Promise((found, failed) => {
    const onText = (text) => {
      log += text
      const ready = /ready: (\S+)/.exec(log)
      if (ready !== null) found(ready[1])
    }
    child.stdout.on('data', onText)
    child.stderr.on('data', onText)
    child.on('exit', (code) => failed(new Error(`ottla broker ended with code ${code}: ${log}`)))
  })
  return {
    address,
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    stop: () => child.kill(),
  }
}

async function costs() {
  const broker = await runBroker()
  try {
    const perMillion = async (args) => {
      const before = broker.cpuSeconds()
      const { error, wallMs } = await resultOf([client, args], { timeoutMs })
      if (error !== undefined) throw new Error(error)
      return { cpuPerMillion: ((broker.cpuSeconds() - before) / records) * 1e6, perSecond: (records / wallMs) * 1000 }
    }
    const produced = await perMillion(['produce', broker.address, 't', String(records), String(valueBytes), 'plain'])
    const consumed = await perMillion(['consume', broker.address, 't', String(records), 'g', 'batch'])
    return { produced, consumed }
  } finally {
    broker.stop()
  }
}

async function measure() {
  const script = fileURLToPath(import.meta.url)
  const startRuns = []
  const costRuns = []
  for (let run = 0; run < runs; run++) {
    const args = [script, 'fresh', '--scale', options.scale]
    const times = await resultOf([process.execPath, args], { timeoutMs })
    if (times.error !== undefined) throw new Error(times.error)
    startRuns.push(times)
    if (existsSync(client)) costRuns.push(await costs())
  }
  if (costRuns.length === 0) console.error(`left out: what records cost the broker (no ${client})`)
  const figures = { date: new Date().toISOString(), node: process.versions.node, records, startRuns, costRuns }
  mkdirSync(dirname(resolve(options.out)), { recursive: true })
  writeFileSync(options.out, JSON.stringify(figures, null, 2) + '\n')
  console.log(brokerTable(figures))
  const left = Math.max(...startRuns.map((times) => times.left))
  if (left > 0) throw new Error(`${starts} starts and closes have left ${left} sockets or timers behind`)
}

export function brokerTable({ node, startRuns, costRuns }) {
  const start = (name, digits = 1) => median(startRuns.map((times) => times[name])).toFixed(digits)
  const cost = (way, name) => median(costRuns.map((one) => one[way][name]))
  const costCell = (way) =>
    `${cost(way, 'cpuPerMillion').toFixed(2)} (${Math.round(cost(way, 'perSecond') / 1000).toLocaleString('en')} k)`
  const rows = [
    [
      'startBroker() until it listens, ms: first in a process / warm',
      `${start('firstListeningMs')} / ${start('warmListeningMs', 2)}`,
    ],
    ['until a record is acknowledged, ms: first in a process / warm', `${start('firstAckMs')} / ${start('warmAckMs')}`],
    [
      `${startRuns[0].starts.toLocaleString('en')} starts and closes in one process: ms / CPU ms / sockets and timers left`,
      `${start('startsMs', 0)} / ${start('startsCpuMs', 0)} / ${start('left', 0)}`,
    ],
  ]
  if (costRuns.length > 0) {
    rows.push(['broker CPU-s per million records of 100 B from librdkafka (msg/s)', costCell('produced')])
    rows.push(['broker CPU-s per million records of 100 B to librdkafka (msg/s)', costCell('consumed')])
  }
  const lines = [
    `| ottla's broker on Node ${node} | median |`,
    '| --- | --- |',
    ...rows.map(([what, value]) => `| ${what} | ${value} |`),
  ]
  return `### The broker\n\n${lines.join('\n')}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('exit', killAll)
  if (process.argv[2] === 'fresh') console.log(JSON.stringify(await startTimes()))
  else await measure()
}
