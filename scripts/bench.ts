// npm run bench: sets up what is missing, then runs ottla beside the other clients and prints Markdown tables. What is not named here is
// passed on to bench/run.mjs; see bench/README.md.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

const bench = resolve(import.meta.dirname, '..', 'bench')
/** Only whether all of it runs: the figures of so little say nothing. */
const quick = ['--runs', '1', '--scale', '0.02']
const ofSetup = new Set(['--native', '--node24'])

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [resolve(bench, program), ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const given = process.argv.slice(2)
const rest = given.filter((arg) => arg !== '--quick' && !ofSetup.has(arg))
run(
  'setup.mjs',
  given.filter((arg) => ofSetup.has(arg)),
)
run('run.mjs', given.includes('--quick') ? [...quick, ...rest] : rest)
