// Compares our error table with that of Kafka's class Errors: number, name and retriable.
import { protocolErrors } from '../../src/protocol/messages/error-table.js'
import { java } from '../fixtures-wire/oracle.js'

export function errorDifferences(): { readonly count: number; readonly differences: readonly string[] } {
  const kafkas = java('KafkaErrors').trimEnd().split('\n')
  const ours = protocolErrors.map(({ code, name, retriable }) => `${code} ${name} ${retriable}`)
  const differences = [
    ...ours.filter((line) => !kafkas.includes(line)).map((line) => `error ${line}: Kafka has no such line`),
    ...kafkas.filter((line) => !ours.includes(line)).map((line) => `error ${line}: only Kafka has this line`),
  ]
  if (differences.length === 0 && ours.length !== kafkas.length) differences.push('an error is listed twice')
  return { count: kafkas.length, differences }
}
