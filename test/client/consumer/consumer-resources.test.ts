// What a consumer leaves behind: memory, timers, and a process that would not end.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { Consumer } from '../../../src/client/consumer/index.js'
import { Fetch } from '../../../src/protocol/messages/fetch.js'
import { ListOffsets } from '../../../src/protocol/messages/list-offsets.js'
import { FakeServer } from '../../helpers/fake-server.js'
import { ManualClock } from '../../helpers/manual-clock.js'
import { serveMetadata } from '../cluster/cluster-helpers.js'
import { brokerWith, fast, fill, turns, until } from './consumer-helpers.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const run = promisify(execFile)
const program = fileURLToPath(new URL('consumer-exit-program.ts', import.meta.url))

describe('T113 an idle consumer', () => {
  test('an hour of empty answers leaves memory, timers and listeners as they were', async () => {
    await using fake = await FakeServer.start()
    serveMetadata([fake], { orders: { leaders: [[1, 0]] } })
    let answered = 0
    fake.on(ListOffsets, ({ topics }) => ({
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: 0, offset: 0 })),
      })),
    }))
    fake.on(Fetch, () => {
      answered++
      fake.received.length = 0
      return { throttleTimeMs: 0, sessionId: 7, responses: [] }
    })
    const clock = new ManualClock()
    await using consumer = new Consumer({ brokers: [fake.address], topics: ['orders'], ...fast, clock })
    const controller = new AbortController()
    const records = consumer.records({ signal: controller.signal })
    const next = records.next()
    const heap = async () => {
      await turns(5)
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    await until(() => answered > 500)
    const timers = clock.pendingTimers
    const before = await heap()
    // One fetch in 500 ms, for an hour.
    await until(() => answered > 500 + 7200)
    expect((await heap()) - before).toBeLessThan(1_000_000)
    expect(Math.abs(clock.pendingTimers - timers)).toBeLessThanOrEqual(2)
    await records.return!()
    await next
  })
})

describe('T116 a process with a consumer ends by itself', () => {
  test.each(['closed', 'never iterated', 'left by break', 'closed twice', 'broker gone', 'during a retry'])(
    '%s',
    async (variant) => {
      await using kafka = await brokerWith({ orders: 1 })
      await fill(kafka, 10)
      const child = run(process.execPath, ['--import', 'tsx', program, kafka.brokers.join(), variant], {
        timeout: 15_000,
      })
      child.child.stdout!.on('data', (text: Buffer) => {
        if (String(text).includes('kill the broker')) kafka.close().catch(() => {})
      })
      const { stdout, stderr } = await child
      expect(stdout.trim().split('\n').at(-1)).toBe('last line')
      expect(stderr).toBe('')
    },
  )
})
