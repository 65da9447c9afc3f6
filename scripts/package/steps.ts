// Steps of a check: run one after the other, timed, every failure told and counted.
import { spawnSync } from 'node:child_process'

export class Steps {
  readonly #failed: string[] = []
  #count = 0

  /** Runs a step; what it returns is printed beside its name, what it throws is its failure. */
  step(name: string, action: () => string | undefined): void {
    const began = performance.now()
    const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`
    this.#count++
    try {
      const note = action()
      console.log(`ok      ${name}${note === undefined ? '' : `: ${note}`}  (${seconds()})`)
    } catch (error) {
      this.#failed.push(name)
      console.log(`FAILED  ${name}  (${seconds()})\n${error instanceof Error ? error.message : String(error)}\n`)
    }
  }

  /** Prints the outcome and sets the exit code. */
  finish(title: string): void {
    console.log(`\n${title}: ${this.#count - this.#failed.length} of ${this.#count} steps passed`)
    for (const name of this.#failed) console.log(`  failed: ${name}`)
    process.exitCode = this.#failed.length === 0 && this.#count > 0 ? 0 : 1
  }
}

/** Runs a program and gives its output; throws with the output if it fails. */
export const run = (program: string, words: readonly string[], cwd?: string, timeoutMs = 300_000): string => {
  const { status, signal, stdout, stderr, error } = spawnSync(program, words, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: timeoutMs,
    ...(cwd === undefined ? {} : { cwd }),
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: exit ${status ?? signal}\n${stdout}${stderr}`)
  return stdout
}

/** Runs a consumer program, which must say on its last line that it is content, and end by itself. */
export const runProgram = (program: string, words: readonly string[], cwd: string): string => {
  const last = run(program, words, cwd, 60_000).trimEnd().split('\n').at(-1) ?? ''
  if (!/^ok [1-9]\d* records$/.test(last)) throw new Error(`${words.join(' ')} ended without its ok line: ${last}`)
  return last
}
