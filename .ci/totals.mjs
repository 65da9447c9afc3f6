// Adds up what .ci/run's steps and vitest's JSON reports say; prints a table and, last, the line `N passed, N failed`.
// A step without tests counts as one. A test file that fails as a whole counts as one failure, and so does a step that ends
// with an error its reports do not show, or that leaves no report.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const [stepsFile, reportsFolder] = process.argv.slice(2)
const reports = readdirSync(reportsFolder)

const countReport = (file) => {
  const { testResults } = JSON.parse(readFileSync(join(reportsFolder, file), 'utf8'))
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const { status, assertionResults } of testResults) {
    const failed = assertionResults.filter((test) => test.status === 'failed').length
    sum.passed += assertionResults.filter((test) => test.status === 'passed').length
    sum.failed += status === 'failed' && failed === 0 ? 1 : failed
    sum.skipped += assertionResults.filter((test) => !['passed', 'failed'].includes(test.status)).length
  }
  return sum
}

const countStep = (status, prefix) => {
  if (prefix === '-') return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 }
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const file of reports.filter((name) => name.startsWith(prefix))) {
    const one = countReport(file)
    for (const key of Object.keys(sum)) sum[key] += one[key]
  }
  if (sum.failed === 0 && (status !== 0 || sum.passed === 0)) sum.failed = 1
  return sum
}

const rows = readFileSync(stepsFile, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [name, status, seconds, prefix] = line.split('\t')
    return { name, status: Number(status), seconds: Number(seconds), ...countStep(Number(status), prefix) }
  })

const total = { passed: 0, failed: 0, skipped: 0, seconds: 0 }
for (const row of rows) for (const key of Object.keys(total)) total[key] += row[key]

const line = (...cells) =>
  console.log([cells[0].padEnd(26), ...cells.slice(1).map((cell) => String(cell).padStart(8))].join(' '))
console.log()
line('step', 'seconds', 'exit', 'passed', 'failed', 'skipped')
for (const row of rows) line(row.name, row.seconds, row.status, row.passed, row.failed, row.skipped)
line('total', total.seconds, '', total.passed, total.failed, total.skipped)
console.log(`\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
