// What the JavaScript peers share: how they tell what happens (one JSON object a line) and how they are ended (a line on standard input).
import { createInterface } from 'node:readline'

export const [, , command, optionsText] = process.argv
export const options = JSON.parse(optionsText)

export const tell = (event, fields = {}) => console.log(JSON.stringify({ event, ...fields }))
export const text = (bytes) => (bytes == null ? null : String(bytes))

/** Resolves at the first line on standard input, or at its end. */
export const asked = () =>
  new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin })
    const end = () => (lines.close(), process.stdin.destroy(), resolve())
    lines.once('line', end).once('close', end)
  })

/** Partitions as the tests compare them: [topic, partition], in order. */
export const pairs = (byTopic) =>
  byTopic
    .flatMap(([topic, partitions]) => partitions.map((partition) => [topic, partition]))
    .sort(([a, i], [b, j]) => (a === b ? i - j : a < b ? -1 : 1))

export async function main(commands) {
  process.on('unhandledRejection', (error) => {
    console.error(error)
    process.exit(3)
  })
  await commands[command]()
}
