// What the tour shows: chapters, remarks with the time, tables. Colours only on a terminal.
import Table from 'cli-table3'
import picocolors from 'picocolors'

const isColoured = process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined
const colour = picocolors.createColors(isColoured)
const began = performance.now()
let chapters = 0

export const { bold, cyan, dim, green, red, yellow } = colour

/** How long the tour has been running. */
export function elapsedSeconds(): number {
  return (performance.now() - began) / 1000
}

export function chapter(title: string, ...explanation: string[]): void {
  console.log(`\n${bold(cyan(`${++chapters}. ${title}`))}`)
  for (const line of explanation) console.log(`   ${line}`)
  console.log()
}

/** One line of what happens, with the seconds since the start. */
export function remark(text: string): void {
  console.log(`   ${dim(`${elapsedSeconds().toFixed(1).padStart(5)} s`)}  ${text}`)
}

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const numbers = rows[0]?.map((cell) => (typeof cell === 'number' ? ('right' as const) : ('left' as const))) ?? []
  const made = new Table({
    head: head.map((text) => bold(text)),
    colAligns: numbers,
    style: { head: [], border: [], compact: true },
  })
  for (const row of rows) made.push(row.map((cell) => (typeof cell === 'number' ? count(cell) : cell)))
  console.log(indented(made.toString()))
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** A bar of up to 30 characters. */
export function bar(value: number, most: number): string {
  return cyan('█'.repeat(Math.max(1, Math.round((30 * value) / most))))
}

function indented(text: string): string {
  return text.replace(/^/gm, '   ')
}
