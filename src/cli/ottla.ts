#!/usr/bin/env node
// The ottla command: picks the command, prints help and errors, sets the exit status.
import { readFileSync } from 'node:fs'
import { isKafkaError } from '../errors.js'
import { brokerCommand, brokerHelp } from './broker-command.js'
import { WrongUse } from './wrong-use.js'

const help = `Usage: ottla <command> [options]

Commands:
  broker     run a Kafka broker, or several, on this machine, in memory

Options:
  -h, --help     show this, or the help of a command
  -v, --version  show the version`

async function run(words: readonly string[]): Promise<number> {
  const [command, ...rest] = words
  if (command === 'broker') return brokerCommand(rest)
  if (command === '-v' || command === '--version') console.log(version())
  else if (command === 'help' && rest[0] === 'broker') console.log(brokerHelp)
  else if (command === '-h' || command === '--help' || command === 'help') console.log(help)
  else if (command === undefined) throw new WrongUse(`a command is required\n\n${help}`)
  else throw new WrongUse(`unknown command ${command}\n\n${help}`)
  return 0
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (!isKafkaError(error) && !(error instanceof WrongUse)) throw error
  console.error(`ottla: ${error.message}`)
  process.exitCode = error instanceof WrongUse || error.code === 'INVALID_OPTION' ? 2 : 1
}
