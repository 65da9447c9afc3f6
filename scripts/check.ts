// npm run check: types, lint, format, import direction and dead code. All of them run, whatever failed before.
import { spawnSync } from 'node:child_process'

const steps = ['types', 'lint', 'format', 'imports', 'unused'] as const

const failed = steps.filter((step) => {
  const began = performance.now()
  console.log(`\n> check:${step}`)
  const { status } = spawnSync('npm', ['run', '--silent', `check:${step}`], { stdio: 'inherit' })
  console.log(`${status === 0 ? 'ok' : 'FAILED'}  check:${step}  ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return status !== 0
})

console.log(failed.length === 0 ? '\ncheck: all passed' : `\ncheck: failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
