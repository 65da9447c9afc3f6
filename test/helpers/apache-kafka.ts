// Starts, stops, kills and restarts nodes of a real Apache Kafka through scripts/kafka.sh, and runs Kafka's own tools.
// Each cluster has free ports and a data folder of its own, so several runs do not clash; it is killed when this process ends.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const script = join(project, 'scripts', 'kafka.sh')
const run = promisify(execFile)

/** Where a running cluster is: plain data, so that it can be handed to another process. */
export interface ApacheKafkaLocation {
  readonly dir: string
  readonly port: number
  readonly nodes: number
}

export interface ApacheKafka extends ApacheKafkaLocation {
  /** `host:port` of every node, in the order of their ids 1, 2, … */
  readonly brokers: readonly string[]
  /** kill -9 of a node; ids count from 1. */
  kill(id: number): Promise<void>
  /** A clean stop. */
  stop(id: number): Promise<void>
  /** Starts a stopped or killed node again on its data; resolves when it listens. */
  start(id: number): Promise<void>
  pause(id: number): Promise<void>
  resume(id: number): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface ToolResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

const freeBasePort = async (nodes: number): Promise<number> => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const base = 20_000 + 50 * Math.floor(Math.random() * 200)
    const ports = Array.from({ length: nodes }, (_, node) => [base + 10 * node, base + 10 * node + 1]).flat()
    const free = await Promise.all(ports.map(isFree))
    if (free.every(Boolean)) return base
  }
  throw new Error(`no free ports for ${nodes} nodes of Apache Kafka`)
}

const environment = ({ dir, port }: Omit<ApacheKafkaLocation, 'nodes'>): NodeJS.ProcessEnv => ({
  ...process.env,
  KAFKA_DIR: dir,
  KAFKA_PORT: String(port),
})

/** The handle of a cluster that another process started, by its location. */
export const attachApacheKafka = (location: ApacheKafkaLocation): ApacheKafka => {
  const { dir, port, nodes } = location
  const command = async (...words: string[]): Promise<void> => {
    await run(script, words, { env: environment(location) })
  }
  const close = async (): Promise<void> => {
    await command('down')
    rmSync(dir, { recursive: true, force: true })
  }
  return {
    dir,
    port,
    nodes,
    brokers: Array.from({ length: nodes }, (_, node) => `127.0.0.1:${port + 10 * node}`),
    kill: (id) => command('kill', String(id)),
    stop: (id) => command('stop', String(id)),
    start: (id) => command('start', String(id)),
    pause: (id) => command('pause', String(id)),
    resume: (id) => command('resume', String(id)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Starts a cluster of its own; resolves when every node is registered. */
export const startApacheKafka = async (nodes = 1): Promise<ApacheKafka> => {
  const clusters = join(project, '.kafka', 'clusters')
  mkdirSync(clusters, { recursive: true })
  const dir = mkdtempSync(join(clusters, `${nodes}-`))
  const location = { dir, port: await freeBasePort(nodes), nodes }
  const down = (): void => void execFileSync(script, ['down'], { env: environment(location) })
  process.once('exit', down)
  const kafka = attachApacheKafka(location)
  const close = async (): Promise<void> => {
    process.off('exit', down)
    await kafka.close()
  }
  try {
    await run(script, ['up', String(nodes)], { env: environment(location) })
  } catch (error) {
    process.off('exit', down)
    await run(script, ['down'], { env: environment(location) }) // the logs stay for whoever looks for the reason
    throw error
  }
  return { ...kafka, close, [Symbol.asyncDispose]: close }
}

/** Runs one of Kafka's own tools, e.g. `kafkaTool('TopicCommand', ['--list', …])`; never throws for its exit status. */
export const kafkaTool = (name: string, words: readonly string[], input = ''): Promise<ToolResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(script, ['tool', name, ...words], { stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.once('error', reject)
    child.stdin.once('error', () => undefined) // a tool that ends without reading its input
    child.once('close', (status) => resolve({ status: status ?? -1, stdout, stderr }))
    child.stdin.end(input)
  })
