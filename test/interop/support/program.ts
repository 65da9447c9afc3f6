// A child process of an interop test: what it writes, one JSON object a line where it is one, and how it ends. Knows no client.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../../helpers/until.js'

export interface Line {
  readonly event?: string
  readonly [field: string]: unknown
}

export interface ProgramOptions {
  readonly input?: string | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

export class Program {
  /** The JSON objects it wrote, in order. */
  readonly lines: Line[] = []
  readonly #child: ChildProcessWithoutNullStreams
  readonly #name: string
  readonly #ended: Promise<unknown>
  #stdout = ''
  #stderr = ''
  #rest = ''

  constructor(command: string, words: readonly string[], { input, env }: ProgramOptions = {}) {
    this.#name = `${command.split('/').at(-1)} ${words.join(' ')}`.slice(0, 300)
    this.#child = spawn(command, [...words], { stdio: 'pipe', env: { ...process.env, NODE_OPTIONS: '', ...env } })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#wrote(text))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    this.#child.stdin.once('error', () => undefined) // it ended without reading
    this.#ended = once(this.#child, 'close')
    this.#ended.catch((error: unknown) => (this.#stderr += String(error)))
    if (input !== undefined) this.#child.stdin.end(input)
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  of(event: string): Line[] {
    return this.lines.filter((line) => line.event === event)
  }

  #wrote(text: string): void {
    this.#stdout += text
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('{')) this.lines.push(JSON.parse(line) as Line)
  }

  /** The last line may have no end. */
  #wroteAll(): void {
    if (this.#rest !== '') this.#wrote('\n')
  }

  /** Waits for something that this program has to bring about; fails at once when it ends before. */
  until<T>(what: string, condition: () => T | Promise<T>, timeoutMs = 30_000): Promise<NonNullable<T>> {
    const check = async () => {
      const answer = await condition()
      if (answer || this.#child.exitCode === null) return answer
      throw new Error(`${this.#name} ended with ${this.#child.exitCode} before ${what}\n${this.#tail()}`)
    }
    return until(`${what} (${this.#name})`, check, timeoutMs).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.#tail()}`, { cause: error })
    })
  }

  /** Asks a member to end in order, by a line on its standard input. */
  ask(): void {
    this.#child.stdin.end('\n')
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Resolves when it has ended by itself; fails unless with this exit status. */
  async ended(status = 0, timeoutMs = 60_000): Promise<this> {
    await until(`${this.#name} has ended`, () => this.#child.exitCode !== null || this.#child.signalCode, timeoutMs)
    await this.#ended
    this.#wroteAll()
    if (this.#child.exitCode !== status)
      throw new Error(
        `${this.#name} ended with ${this.#child.exitCode ?? this.#child.signalCode}, not ${status}\n${this.#tail()}`,
      )
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL')
    await this.#ended.catch(() => undefined)
  }

  #tail(): string {
    return `stdout: ${this.#stdout.slice(-2000)}\nstderr: ${this.#stderr.slice(-4000)}`
  }
}

/** Runs a program to its end, which must be a good one. */
export async function ran(command: string, words: readonly string[], options: ProgramOptions = {}): Promise<Program> {
  await using program = new Program(command, words, { input: '', ...options })
  return await program.ended()
}
