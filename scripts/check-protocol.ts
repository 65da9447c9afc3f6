// npm run check:protocol: everything that we say about Kafka's protocol, compared with Apache Kafka itself: the declared messages with
// the JSON definitions in its client jar, the error table with its class Errors, the recorded bytes with what its classes write now,
// and the versions that our broker advertises with those of a running Apache Kafka. Any difference is printed, and fails.
import { errorDifferences } from './check-protocol/errors.js'
import { show } from './check-protocol/fields.js'
import { fixtureDifferences } from './check-protocol/fixtures.js'
import { compareMessages } from './check-protocol/messages.js'
import { advertisedVersions } from './check-protocol/ranges.js'

const messages = compareMessages()
const errors = errorDifferences()
const fixtures = fixtureDifferences()
const advertised = await advertisedVersions()

const widths = [4, 39, 10, 10, 12, 12] as const
function print(...cells: readonly string[]): void {
  console.log(
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

console.log(`Apache Kafka: ${messages.jar}\n`)
print('key', 'API', 'ours', "Kafka's", 'our broker', "Kafka's", '')
for (const { key, name, ours, kafkas, differences } of messages.rows) {
  const [own, theirs] = [advertised.ours, advertised.kafkas].map((ranges) => ranges.get(key ?? -1))
  const result = ours === undefined ? 'not yet' : differences.length === 0 ? 'same' : 'DIFFERENT'
  print(String(key ?? '-'), name, ours ?? '-', kafkas, own ? show(own) : '-', theirs ? show(theirs) : '-', result)
}

const declared = messages.rows.filter(({ ours }) => ours !== undefined)
const verdict = (differences: readonly string[]): string =>
  differences.length === 0 ? 'no difference' : `${differences.length} DIFFERENT`
const declaredDifferences = declared.flatMap(({ differences }) => differences)
console.log(`
${declared.length} declared APIs and structs: ${verdict(declaredDifferences)}
${errors.count} errors: ${verdict(errors.differences)}
${fixtures.count} recorded messages, made anew: ${verdict(fixtures.differences)}
${advertised.ours.size} APIs of our broker, ${advertised.kafkas.size} of Kafka's: ${verdict(advertised.differences)}`)

const all = [...declaredDifferences, ...errors.differences, ...fixtures.differences, ...advertised.differences]
for (const difference of all) console.log(`- ${difference}`)
console.log(all.length === 0 ? '\ncheck:protocol: no difference' : `\ncheck:protocol: ${all.length} differences`)
process.exitCode = all.length === 0 ? 0 : 1
