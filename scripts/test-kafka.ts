// npm run test:kafka: the conformance suite on a real Apache Kafka, first of one node, then of three. The runs start and stop it.
// Further arguments go to vitest. With OTTLA_REPORT set, each run writes a JSON report to <OTTLA_REPORT>-<nodes>.json.
import { spawnSync } from 'node:child_process'

const report = process.env['OTTLA_REPORT']

const failed = [1, 3].filter((nodes) => {
  console.log(`\n> conformance on Apache Kafka with ${nodes} node${nodes === 1 ? '' : 's'}`)
  const reporters =
    report === undefined ? [] : ['--reporter=default', '--reporter=json', `--outputFile.json=${report}-${nodes}.json`]
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--project', 'conformance-kafka', ...reporters, ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      env: { ...process.env, OTTLA_KAFKA: String(nodes) },
    },
  )
  return status !== 0
})

if (failed.length > 0) console.error(`conformance failed with ${failed.join(' and ')} node(s)`)
process.exitCode = failed.length === 0 ? 0 : 1
