// npm run examples: runs every program in examples/ on the built package; each must end with exit code 0 within a minute.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Steps } from './package/steps.js'

const examples = resolve(import.meta.dirname, '..', 'examples')
const files = readdirSync(examples).filter((name) => name.endsWith('.ts'))
const steps = new Steps()

for (const file of files) {
  steps.step(file, () => {
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', join(examples, file)], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    if (status !== 0) throw new Error(`exit ${status ?? signal}\n${stdout}${stderr}`)
    if (stdout.trim() === '') throw new Error('it printed nothing')
    return undefined
  })
}
steps.finish('examples')
