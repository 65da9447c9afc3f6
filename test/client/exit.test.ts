// A process that has closed its producer and group member has nothing left that keeps it alive, and nothing unhandled.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { startBroker } from '../../src/broker.js'

const run = promisify(execFile)
const program = fileURLToPath(new URL('exit-process.ts', import.meta.url))

describe('T116 T117 a process with a producer and a group member ends by itself, and without a stray rejection', () => {
  it.each(['closed', 'never iterated', 'left by break', 'closed twice', 'brokers gone', 'during a retry'])(
    '%s',
    async (variant) => {
      await using kafka = await startBroker({ topics: { orders: 1 } })
      const running = run(process.execPath, ['--import', 'tsx', program, kafka.brokers.join(), variant], {
        timeout: 20_000,
      })
      running.child.stdout!.on('data', (text: Buffer) => {
        if (String(text).includes('kill the brokers')) kafka.close().catch(() => {})
      })
      const { stdout, stderr } = await running // rejects when it had to be killed, or failed
      expect(stdout.trim().split('\n').at(-1)).toBe('last line')
      expect(stderr).toBe('')
    },
  )
})
