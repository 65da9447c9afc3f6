// The parent's side of member-process.ts.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { GroupMemberOptions } from '../../src/client/group/index.js'

interface Line {
  readonly assigned?: number
  readonly value?: number
}

export class KillableMember implements AsyncDisposable {
  /** The values it was given out. */
  readonly seen: number[] = []
  /** How many partitions it was assigned so far, all in all. */
  assigned = 0
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  constructor(options: GroupMemberOptions<string>) {
    const program = join(import.meta.dirname, 'member-process.ts')
    const child = spawn(process.execPath, ['--import', 'tsx', program, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    this.#exited = once(child, 'close')
    createInterface({ input: child.stdout }).on('line', (text) => {
      const { assigned = 0, value } = JSON.parse(text) as Line
      this.assigned += assigned
      if (value !== undefined) this.seen.push(value)
    })
  }

  /** kill -9; resolves when it is gone and all it said is read. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}
