// Apache Kafka's client classes as an oracle: gets them by Maven, once, and runs our small Java programs against them.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const kafkaVersion = '4.4.0'

const root = join(import.meta.dirname, '../..')
const cache = join(root, '.kafka', `clients-${kafkaVersion}`)

function run(command: string, args: readonly string[], cwd = root): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The folder with Kafka's client jar, what it depends on, and the message definitions taken out of it. */
function oracle(): string {
  const done = join(cache, '.done')
  if (!existsSync(done)) {
    mkdirSync(cache, { recursive: true })
    const pom = join(import.meta.dirname, 'pom.xml')
    run('mvn', [
      '-q',
      '-B',
      '-f',
      pom,
      `-Dkafka=${kafkaVersion}`,
      'dependency:copy-dependencies',
      `-DoutputDirectory=${cache}`,
    ])
    run('jar', ['--extract', '--file', join(cache, `kafka-clients-${kafkaVersion}.jar`), 'common/message'], cache)
    writeFileSync(done, '')
  }
  return cache
}

/** Runs one of the Java programs beside this file, and returns what it prints. */
export function java(program: 'WireFixtures' | 'KafkaErrors', args: readonly string[] = []): string {
  return run('java', ['-cp', join(oracle(), '*'), join(import.meta.dirname, `${program}.java`), ...args])
}

/** All JSON definitions of Kafka's messages, without the comments that some of them have. */
export function messageDefinitions(): unknown[] {
  const folder = join(oracle(), 'common', 'message')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(withoutComments(readFileSync(join(folder, name), 'utf8'))) as unknown)
}

// A `//` inside a string is not a comment: strings are matched first and kept.
function withoutComments(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*/g, (_, string: string | undefined) => string ?? '')
}
