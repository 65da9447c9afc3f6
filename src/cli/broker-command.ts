// `ottla broker`: starts the embedded broker, writes its log to standard output, and ends at SIGINT or SIGTERM.
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { startBroker, type LogLine, type StartBrokerOptions } from '../broker.js'
import { WrongUse } from './wrong-use.js'

export const brokerHelp = `Usage: ottla broker [options]

Runs Kafka brokers in memory: what is written is gone when the command ends.

Options:
  --host <host>             where to listen, and what clients are told (default 127.0.0.1; localhost is IPv4 and IPv6)
  --port <port>             the first broker's port, the next has the next (default 9092; 0 takes free ones)
  --brokers <number>        how many brokers (default 1)
  --topic <name:partitions> create a topic; may be given several times
  --config <name=value>     a broker config by Kafka's name; may be given several times
  --verbose                 log every connection and request
  -h, --help                show this`

const options = {
  host: { type: 'string' },
  port: { type: 'string' },
  brokers: { type: 'string' },
  topic: { type: 'string', multiple: true },
  config: { type: 'string', multiple: true },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Returns the exit status. */
export async function brokerCommand(words: readonly string[]): Promise<number> {
  const values = parsed(words)
  if (values.help) {
    console.log(brokerHelp)
    return 0
  }
  const write = ({ level, message }: LogLine) => {
    if (level !== 'debug' || values.verbose) console.log(`${time()} ${message}`)
  }
  const kafka = await startBroker({
    ...optionsOf(values),
    onLog: write,
  })
  console.log(`${time()} ready: ${kafka.brokers.join(',')} (stop with Ctrl-C)`)
  const ended = new AbortController()
  const { signal } = ended
  try {
    const received = await Promise.any([
      once(process, 'SIGINT', { signal }).then(() => 'SIGINT'),
      once(process, 'SIGTERM', { signal }).then(() => 'SIGTERM'),
    ])
    console.log(`${time()} ${received}: closing`)
  } finally {
    ended.abort()
    await kafka.close()
  }
  return 0
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new WrongUse(`${(error as Error).message}\n\n${brokerHelp}`)
  }
}

function optionsOf({ host, port, brokers, topic, config }: ReturnType<typeof parsed>): StartBrokerOptions {
  return {
    host,
    port: port === undefined ? 9092 : number('--port', port),
    brokers: brokers === undefined ? undefined : number('--brokers', brokers),
    topics: Object.fromEntries((topic ?? []).map((text) => topicOf(text))),
    config: Object.fromEntries((config ?? []).map((text) => configOf(text))),
  }
}

function number(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new WrongUse(`${name} must be a number, got ${text}`)
  return Number(text)
}

function topicOf(text: string): [string, number] {
  const at = text.lastIndexOf(':')
  if (at < 0) return [text, 1]
  return [text.slice(0, at), number('--topic name:partitions', text.slice(at + 1))]
}

function configOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new WrongUse(`--config must be name=value, got ${text}`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The time of day, as a log has it. */
function time(): string {
  return new Date().toISOString().slice(11, 23)
}
