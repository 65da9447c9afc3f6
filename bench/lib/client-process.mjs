// One run of one client in a process of its own, with a JSON argument; prints a JSON line. It owns the clock, what is sent and the
// loops that send, so that every driver is under the same load. What a driver gets as `job` is in ../README.md.
import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { idDigitAt, keyCount, keys, valueCount, values } from './payload.mjs'

const { driverFile, ...spec } = JSON.parse(process.argv[2])
const driver = await import(pathToFileURL(driverFile))
const inPayload = driver.payload === 'text' ? (text) => text : (text) => Buffer.from(text)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** Closing is not measured, and not waited for longer. */
const closingMs = 2000

let startedAt
let cpuAtStart
let tellEnded
const ended = new Promise((resolve) => (tellEnded = resolve))
function begin() {
  cpuAtStart = process.cpuUsage()
  startedAt = performance.now()
}
function end(more) {
  const wallMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuAtStart)
  const rssMb = process.resourceUsage().maxRSS / 1024
  const result = { wallMs, userMs: user / 1000, sysMs: system / 1000, rssMb, node: process.versions.node, ...more }
  process.stdout.write(JSON.stringify(result) + '\n')
  tellEnded()
}

const valueList = spec.valueBytes ? values(spec.valueBytes).map(inPayload) : []
const keyList = spec.keyed ? keys.map(inPayload) : []

/** `window` sends of `perSend` records are in flight until all are acknowledged; the first send connects and is not counted. */
async function produce(toRecord, send) {
  const { perSend, window, records } = spec
  const sends = Math.ceil(records / perSend)
  const recordsOf = (n) => {
    const list = new Array(perSend)
    for (let i = 0; i < perSend; i++) list[i] = toRecord(n * perSend + i)
    return list
  }
  await send(recordsOf(0))
  let next = 0
  begin()
  const sendInTurn = async () => {
    while (next < sends) await send(recordsOf(next++))
  }
  await Promise.all(Array.from({ length: window }, sendInTurn))
  end({ records: sends * perSend, warmup: perSend })
}

/** A send per record. When half of `window` is acknowledged it is filled up again, in bursts that let the event loop turn. */
async function single(send) {
  const { records, window } = spec
  const burst = 1000
  await send(0)
  begin()
  await new Promise((resolve, reject) => {
    let sent = 0
    let acknowledged = 0
    let isPaused = false
    const acknowledge = () => {
      if (++acknowledged === records) resolve()
      else if (isPaused && sent - acknowledged < window / 2) {
        isPaused = false
        setImmediate(fill)
      }
    }
    const fill = () => {
      for (let n = 0; sent < records; n++) {
        if (sent - acknowledged >= window) {
          isPaused = true
          return
        }
        if (n === burst) {
          setImmediate(fill)
          return
        }
        send(sent++).then(acknowledge, reject)
      }
    }
    fill()
  })
  end({ records, warmup: 1 })
}

// The values are in the topic in a known order: the last digit of the id in each tells one that is missing, repeated or out of order.
let seenRecords = 0
let seenBytes = 0
let firstAt = 0
let tellDone
const done = new Promise((resolve) => (tellDone = resolve))
/** Takes a value that the consumer gave out; true when it was the last. */
function seen(value) {
  if (seenRecords === 0) firstAt = performance.now()
  const digit = typeof value === 'string' ? value.charCodeAt(idDigitAt) : value[idDigitAt]
  if (digit !== 48 + ((seenRecords & (valueCount - 1)) % 10)) {
    throw new Error(`record ${seenRecords} is not the next of the topic: ${value}`)
  }
  seenBytes += value.length
  if (++seenRecords < spec.records) return false
  if (seenRecords === spec.records) {
    end({ records: seenRecords, bytes: seenBytes, firstMs: firstAt - startedAt })
    tellDone()
  }
  return true
}

// Each value of the latency case is the reading of the clock when it was sent.
const delays = []
let tellJoined
const joined = new Promise((resolve) => (tellJoined = resolve))
const stampDigits = 20
const stamped = (nanoseconds) => inPayload(String(nanoseconds).padStart(stampDigits, '0').padEnd(spec.valueBytes, 'x'))
function received(value) {
  const at = process.hrtime.bigint()
  const text = typeof value === 'string' ? value.slice(0, stampDigits) : value.toString('latin1', 0, stampDigits)
  const sentAt = BigInt(text)
  if (sentAt === 0n) tellJoined()
  else delays.push(Number(at - sentAt) / 1e6)
}

/** `rate` records a second, from when the consumer has given out the record of stampZero(): joining is not measured. */
async function pace(send) {
  const { rate, seconds, warmSeconds } = spec
  const total = rate * (warmSeconds + seconds)
  await joined
  await sleep(1000)
  begin()
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) * rate) / 1000))
    for (; sent < due; sent++) send(stamped(process.hrtime.bigint())) // a rejection ends the process: nobody handles it
    await sleep(1)
  }
  for (let i = 0; i < 1000 && delays.length < total; i++) await sleep(10)
  if (delays.length !== total) throw new Error(`sent ${total} records, received ${delays.length}`)
  const sorted = delays.slice(rate * warmSeconds).sort((a, b) => a - b)
  const quantile = (q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
  end({ records: sorted.length, p50: quantile(0.5), p99: quantile(0.99), max: sorted.at(-1) })
}

async function rest() {
  await sleep(spec.settleSeconds * 1000)
  begin()
  await sleep(spec.seconds * 1000)
  end({ rssMb: process.memoryUsage.rss() / 1048576 })
}

const job = {
  brokers: spec.brokers,
  topic: spec.topic,
  records: spec.records,
  window: spec.window,
  acks: spec.acks ?? 1,
  compression: spec.compression ?? 'none',
  lingerMs: spec.lingerMs ?? 0,
  keyed: spec.keyed === true,
  mode: spec.mode,
  group: `bench-${randomUUID()}`,
  partition: spec.keyed ? undefined : 0,
  value: (i) => valueList[i & (valueCount - 1)],
  key: spec.keyed ? (i) => keyList[i & (keyCount - 1)] : () => undefined,
  produce,
  single,
  begin,
  end,
  seen,
  done,
  received,
  pace,
  rest,
  stampZero: () => stamped(0n),
}

if (spec.kind === 'consume') begin()
const work = driver[spec.kind](job)
await Promise.race([work, ended.then(() => sleep(closingMs))])
process.exit(0)
