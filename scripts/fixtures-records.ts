// npm run fixtures:records: has the codecs of the other clients write record batches into test/fixtures/records: the Java client's
// directly, librdkafka's through kcat and the log of a real Apache Kafka, odd frames by lz4 and zstd's own commands. Then has Java
// read what ottla writes.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contentCount, contentRecord, contentText, plainRecord } from './fixtures-records/content.js'
import { BatchBuilder, codecByName, codecNames } from '../src/protocol/records/index.js'

const here = import.meta.dirname
const folder = join(here, '../test/fixtures/records')
const port = '19792'
const scratch = mkdtempSync(join(tmpdir(), 'ottla-records-'))

function run(command: string, args: readonly string[]): string {
  const env = { ...process.env, KAFKA_DIR: join(scratch, 'kafka'), KAFKA_PORT: port }
  return execFileSync(command, args, {
    env,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const kafka = (...args: readonly string[]) => run('bash', [join(here, 'kafka.sh'), ...args])
const java = (...args: readonly string[]) =>
  run('java', ['-cp', kafka('classpath').trim(), join(here, 'fixtures-records/RecordFixtures.java'), ...args])

function writeWithLibrdkafka(): void {
  const lines = Array.from({ length: contentCount }, (_, i) => plainRecord(i))
  const input = join(scratch, 'lines')
  writeFileSync(input, lines.map(({ key, value }) => `${key}\t${value}\n`).join(''))
  const settings = ['linger.ms=2000', 'batch.num.messages=100000', 'batch.size=900000', 'message.max.bytes=1000000']
  const broker = kafka('up').trim()
  try {
    for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) {
      const options = settings.flatMap((setting) => ['-X', setting])
      run('kcat', [
        '-P',
        '-b',
        broker,
        '-t',
        `rdk-${codec}`,
        '-p',
        '0',
        '-z',
        codec,
        '-K',
        '\t',
        ...options,
        '-l',
        input,
      ])
    }
    kafka('stop', '1')
    for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) {
      const segment = join(scratch, `kafka/data-1/rdk-${codec}-0/00000000000000000000.log`)
      copyFileSync(segment, join(folder, `librdkafka-${codec}.bin`))
    }
  } finally {
    kafka('down')
  }
}

/** Forms of frames that Kafka's clients may write, though these two do not. */
function writeWithCommandLine(): void {
  const text = join(scratch, 'text')
  writeFileSync(text, Array.from({ length: contentCount }, (_, i) => `${contentText(i)}\n`).join(''))
  const linked = join(folder, 'lz4-linked-blocks.lz4')
  run('lz4', ['-f', '-q', '-4', '-B4', '-BD', '-BX', '--content-size', text, linked])
  // From standard input, so that the frame has no content size; its window is 128 MiB.
  const large = run('bash', ['-c', `zstd -q --long=27 -3 <"$0" | base64 -w0`, text])
  writeFileSync(join(folder, 'zstd-large-window.zst'), Buffer.from(large, 'base64'))
}

/** Java must read from our batches what was put in. */
async function compareWithJava(): Promise<void> {
  const hex = (text: string | null) => (text === null ? 'null' : `x${Buffer.from(text).toString('hex')}`)
  for (const name of codecNames) {
    const codec = codecByName(name)
    await codec.load()
    const builder = new BatchBuilder()
    const expected: string[] = []
    for (let i = 0; i < contentCount; i++) {
      const { timestamp, key, value, headers } = contentRecord(i)
      builder.append(
        timestamp,
        key,
        value,
        headers.map(([headerKey, headerValue]) => ({ key: headerKey, value: headerValue })),
      )
      const shown = headers.map(([headerKey, headerValue]) => ` ${hex(headerKey)}=${hex(headerValue)}`)
      expected.push(`record ${i} ${timestamp} ${hex(key)} ${hex(value)}${shown.join('')}`)
    }
    const stamp = { producerId: 9, producerEpoch: 1, baseSequence: 2, transactional: true }
    const file = join(scratch, `ottla-${name}`)
    writeFileSync(file, builder.seal({ ...stamp, codec }))
    const batch = `batch 0 ${contentCount - 1} ${name} CreateTime ${builder.maxTimestamp} 9 1 2 true false -1`
    const read = java('read', file).trimEnd().split('\n')
    if (read.join('\n') !== [batch, ...expected].join('\n'))
      throw new Error(`Java reads something else from our ${name} batch`)
    console.log(`${name}: Java reads our batch of ${readFileSync(file).length} bytes`)
  }
}

try {
  java('write', folder)
  writeWithLibrdkafka()
  writeWithCommandLine()
  await compareWithJava()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
