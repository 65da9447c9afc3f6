// Apache Kafka's classes as an oracle (from the jars of kafka.sh): runs our small Java programs against them, and takes the JSON
// definitions of the messages out of the client jar.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

function run(command: string, args: readonly string[], cwd?: string): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function classPath(): string {
  return run('bash', [join(import.meta.dirname, '../kafka.sh'), 'classpath']).trim()
}

/** Runs one of the Java programs beside this file, and returns what it prints. */
export function java(program: 'WireFixtures' | 'KafkaErrors', args: readonly string[] = []): string {
  return run('java', ['-cp', classPath(), join(import.meta.dirname, `${program}.java`), ...args])
}

/** Calls `use` with a folder that is gone afterwards. */
export function withScratchFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'ottla-'))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The JSON definitions of all of Kafka's messages, and the name of the jar that they are from. */
export function messageDefinitions(): { readonly jar: string; readonly definitions: readonly unknown[] } {
  const libs = dirname(classPath())
  const jar = readdirSync(libs).find((name) => /^kafka-clients-[\d.]+\.jar$/.test(name))
  if (jar === undefined) throw new Error(`no kafka-clients jar in ${libs}`)
  return withScratchFolder((folder) => {
    run('jar', ['--extract', '--file', join(libs, jar), 'common/message'], folder)
    const messages = join(folder, 'common/message')
    const files = readdirSync(messages).filter((name) => name.endsWith('.json'))
    const definitions = files.map(
      (name) => JSON.parse(withoutComments(readFileSync(join(messages, name), 'utf8'))) as unknown,
    )
    return { jar, definitions }
  })
}

// A `//` inside a string is not a comment: strings are matched first and kept.
function withoutComments(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*/g, (_, string: string | undefined) => string ?? '')
}
