// npm run bench: sets up what is missing, runs ottla beside the other clients, then its broker by itself, and prints Markdown tables.
// What is not named here is passed on to bench/run.mjs; see bench/README.md.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

const bench = resolve(import.meta.dirname, '..', 'bench')
/** Only whether all of it runs: the figures of so little say nothing. */
const quick = ['--runs', '1', '--scale', '0.02']
const ofSetup = new Set(['--native', '--node24'])
/** Who asks for less does not want the broker's figures too. */
const narrowing = ['--cases', '--clients', '--brokers', '--list']

const given = process.argv.slice(2)
const at = given.indexOf('--peers')
const [, peers] = at < 0 ? [] : given.splice(at, 2)
const env = peers === undefined ? process.env : { ...process.env, BENCH_PEERS: resolve(peers) }

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [resolve(bench, program), ...args], { stdio: 'inherit', env })
  if (status !== 0) process.exit(status ?? 1)
}

const isQuick = given.includes('--quick')
const forSetup = given.filter((arg) => ofSetup.has(arg))
const forRun = given.filter((arg) => arg !== '--quick' && !ofSetup.has(arg))
run('setup.mjs', forSetup)
run('run.mjs', isQuick ? [...quick, ...forRun] : forRun)
if (!forRun.some((arg) => narrowing.includes(arg))) run('broker.mjs', isQuick ? quick : [])
