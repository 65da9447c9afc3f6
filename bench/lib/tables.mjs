// Markdown tables out of the single runs: medians, and ratios to one client on the same Node in the same call.

const median = (numbers) => {
  const sorted = numbers.filter((n) => Number.isFinite(n)).sort((a, b) => a - b)
  return sorted.length === 0 ? NaN : (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}
const fixed = (digits) => (n) => (Number.isFinite(n) ? n.toFixed(digits) : '–')
const thousands = (n) => `${Math.round(n / 1000).toLocaleString('en')} k`
const span = (numbers, show) =>
  numbers.length > 1 ? ` (${show(Math.min(...numbers))}–${show(Math.max(...numbers))})` : ''
const times = (n) => (Number.isFinite(n) ? `${n.toFixed(2)}x` : '–')

const perSecond = (run) => (run.records / run.wallMs) * 1000
const cpuMs = (run) => run.userMs + run.sysMs
const cpuPerMillion = (run) => (cpuMs(run) / 1000 / run.records) * 1e6

/** A cell with the median of one figure of the runs, and with its span if asked for. */
const mid = (figure, show, withSpan) => (runs) => {
  const numbers = runs.map(figure)
  return show(median(numbers)) + (withSpan ? span(numbers, show) : '')
}
const ratio = (figure, isLessBetter) => (runs, base) => {
  const own = median(runs.map(figure))
  const other = median(base.map(figure))
  return times(isLessBetter ? other / own : own / other)
}

// Heading, and the cell for the good runs of a row and those of the baseline.
const throughput = [
  ['msg/s (min–max)', mid(perSecond, thousands, true)],
  ['ratio', ratio(perSecond)],
  ['CPU-s per million (min–max)', mid(cpuPerMillion, fixed(2), true)],
  ['CPU, times less', ratio(cpuPerMillion, true)],
  ['peak RSS MB', mid((run) => run.rssMb, fixed(0))],
]
const onBroker = [
  ['requests', mid((run) => (run.requests ? run.requests.produce + run.requests.fetch : NaN), fixed(0))],
  ['broker CPU s', mid((run) => run.brokerCpuSeconds, fixed(2))],
]
const columnsOf = {
  produce: [...throughput, ...onBroker],
  single: [...throughput, ...onBroker],
  stream: [...throughput, ...onBroker],
  consume: [...throughput, ['first record after s', mid((run) => run.firstMs / 1000, fixed(2))], ...onBroker],
  latency: [
    ['p50 ms', mid((run) => run.p50, fixed(2))],
    ['p99 ms (min–max)', mid((run) => run.p99, fixed(2), true)],
    ['max ms', (runs) => fixed(1)(Math.max(...runs.map((run) => run.max)))],
    ['CPU ms', mid(cpuMs, fixed(0))],
  ],
  idle: [
    ['CPU ms (min–max)', mid(cpuMs, fixed(1), true)],
    ['RSS MB', mid((run) => run.rssMb, fixed(0))],
  ],
  import: [
    ['import ms (min–max)', mid((run) => run.importMs, fixed(0), true)],
    ['packages', (runs) => String(runs[0].packages)],
    ['installed MB', (runs) => fixed(1)(runs[0].installedMb)],
  ],
}

const line = (cells) => `| ${cells.join(' | ')} |`
const inCell = (text) => text.replaceAll('|', '/').replaceAll('\n', ' ')

export function tables({ cases, results, baseline, broker, machine }) {
  const load = machine.loadAverage[0].toFixed(1)
  const out = [
    `Broker: ${broker}. Machine: ${machine.cores} x ${machine.cpu}, load average ${load} at the end. ` +
      `Medians; ratios to ${baseline} on the same Node.`,
  ]
  for (const workload of cases) {
    const runs = results.filter((run) => run.case === workload.id)
    if (runs.length > 0) out.push('', ...tableOf(workload, runs, baseline))
  }
  return out.join('\n')
}

function tableOf(workload, all, baseline) {
  const columns = columnsOf[workload.kind]
  const good = (runs) => runs.filter((run) => run.error === undefined)
  const rows = new Map()
  for (const run of all) {
    const key = `${run.client}|${run.mode}|${run.node}`
    rows.set(key, [...(rows.get(key) ?? []), run])
  }
  const ofBaseline = good(all.filter((run) => run.client === baseline))
  const size = workload.records === undefined ? '' : ` (${workload.records.toLocaleString('en')} records)`
  const headings = ['client', 'Node', 'runs', ...columns.map(([heading]) => heading)]
  const out = [`### ${workload.title}${size}`, '', line(headings), line(headings.map(() => '---'))]
  for (const runs of rows.values()) {
    const { client, mode, node } = runs[0]
    const name = workload.mode === 'any' ? `${client} (${mode})` : client
    const start = [name, node, `${good(runs).length}/${runs.length}`]
    const error = runs.find((run) => run.error !== undefined)?.error
    // What is not a Node program is compared with the first Node's.
    const base = ofBaseline.filter((run) => run.node === (node === 'C' ? ofBaseline[0].node : node))
    if (good(runs).length === 0) {
      out.push(line([...start, `FAILED: ${inCell(error)}`, ...columns.slice(1).map(() => '')]))
    } else {
      if (error !== undefined) start[2] += ` FAILED once: ${inCell(error)}`
      out.push(line([...start, ...columns.map(([, cell]) => cell(good(runs), base))]))
    }
  }
  return out
}
