#!/usr/bin/env node
// Writes docs/benchmarks.md out of recorded results.
//   node bench/page.mjs [bench/measured.json [bench/measured-broker.json]]      then: npx prettier --write docs/benchmarks.md
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brokerTable } from './broker.mjs'
import { tables } from './lib/tables.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const [file = join(here, 'measured.json'), brokerFile = join(here, 'measured-broker.json')] = process.argv.slice(2)
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const report = read(file)

const nodes = [...new Set(report.results.map(({ node }) => node))].filter((node) => /^\d/.test(node))
const { machine } = report
const page = `# Benchmarks

ottla beside the other Kafka clients for Node, under one load, against a broker that costs next to nothing. Measured on
${report.date.slice(0, 10)} with Node ${nodes.join(' and ')} on ${machine.cores} x ${machine.cpu} with ${machine.memoryGiB} GiB, ${report.runs} runs each.
\`npm run bench\` measures again; [bench/README.md](../bench/README.md) has the method and the options. This page is made by
\`node bench/page.mjs\` out of what the runs have written.

## How to read it

- The broker of these tables is a C program on loopback. Its own CPU time is a column: where it is not small beside the client's,
  do not trust the row.
- A run is one client in a process of its own: wall time, CPU time of the whole process (user and system), peak memory. The
  clients take turns within each round; the tables show medians and, in brackets, the extremes.
- **CPU-seconds per million records is the steadier figure.** The machine was shared with other work while this was measured
  (load average ${machine.loadAverage[0].toFixed(1)} at the end, ${machine.cores} cores): take msg/s as ratios, and latency and import time with care.
- Every run is checked: the broker's end offsets must be exactly what was sent, by partition where keys are hashed; a consumer must
  give out every byte in order. A run that fails is shown as FAILED.
- ottla runs with its defaults: idempotent, acks 'all', checksums verified. The other JavaScript clients check no checksums; they,
  but for kafka-ts, send with acks=1 and without idempotence. Consumers are members of a group, and joining it is part of the run.
- \`ceiling\` is no client: the shortest way in JavaScript from records to bytes and back, without retries and groups.
- ottla asks for new records every 500 ms where there are none, as Java's client does; kafkajs, kafka-ts and @platformatic/kafka wait
  for 5 s, which is what the idle case mostly shows. \`maxWaitMs: 5000\` does the same in ottla.
- \`platformatic\` is given fetches of 1 MiB and the partitioner that puts keys where Java's client does: its defaults are slower, and
  elsewhere.

## Results

${tables(report)}

${brokerTable(read(brokerFile))}
`
writeFileSync(join(here, '..', 'docs', 'benchmarks.md'), page)
