// `ottla broker` as a process: its log, its signals, its exit status.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { WireClient } from '../broker/wire-client.js'

const entry = fileURLToPath(new URL('../../src/cli/ottla.ts', import.meta.url))

class Command {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly ended: Promise<{ status: number | null; stdout: string; stderr: string }>

  constructor(...words: string[]) {
    this.child = spawn(process.execPath, ['--import', 'tsx', entry, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = once(this.child, 'close').then(([status]) => {
      const { stdout, stderr } = this
      return { status: status as number | null, stdout, stderr }
    })
  }

  async said(pattern: RegExp): Promise<RegExpExecArray> {
    await expect.poll(() => this.stdout + this.stderr, { timeout: 20_000 }).toMatch(pattern)
    return pattern.exec(this.stdout + this.stderr)!
  }
}

describe('ottla broker', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, and says what happens', async (signal) => {
    const command = new Command(
      'broker',
      '--port',
      '0',
      '--brokers',
      '2',
      '--topic',
      'orders:3',
      '--config',
      'num.partitions=4',
    )
    const [, address] = await command.said(/ready: (127\.0\.0\.1:\d+),127\.0\.0\.1:\d+ /)
    {
      await using client = await WireClient.open(address!)
      const { topics } = await client.send(Metadata, { topics: [{ name: 'orders' }, { name: 'made' }] })
      expect(topics[0]!.partitions.length).toBe(3)
      client.socket.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
      await client.closed
    }
    command.child.kill(signal)
    const { status, stdout, stderr } = await command.ended
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/broker 1 listens on 127\.0\.0\.1:\d+\n/)
    expect(stdout).toMatch(/topic orders created with 3 partitions/)
    expect(stdout).toMatch(/topic made created with 4 partitions/)
    expect(stdout).toMatch(/broker 1 closed the connection from 127\.0\.0\.1:\d+: a frame of 1195725856 bytes/)
    expect(stdout).toMatch(new RegExp(`${signal}: closing\n$`))
  })

  test('--verbose tells of every connection and request', async () => {
    const command = new Command('broker', '--port', '0', '--verbose')
    const [, address] = await command.said(/ready: (127\.0\.0\.1:\d+) /)
    const client = await WireClient.open(address!, 'shop')
    await client.send(Metadata, { topics: [] }, 12)
    await client.close()
    await command.said(/broker 1: connection 1 from 127\.0\.0\.1:\d+\n/)
    await command.said(/broker 1: Metadata v12 from shop \(connection 1\)\n/)
    await command.said(/broker 1: connection 1 closed by the client\n/)
    command.child.kill('SIGTERM')
    expect((await command.ended).status).toBe(0)
  })

  test.each([
    [['broker', '--prot', '9092'], 2, /--prot/],
    [['broker', '--port', 'x'], 2, /--port must be a number, got x/],
    [['broker', '--config', 'num.partitions'], 2, /--config must be name=value/],
    [['broker', '--config', 'num.partition=2'], 2, /unknown broker config num.partition/],
    [['brokr'], 2, /unknown command brokr/],
    [[], 2, /a command is required/],
  ] as const)('%j is refused with status %i', async (words, expected, message) => {
    const { status, stdout, stderr } = await new Command(...words).ended
    expect({ status, stdout }).toEqual({ status: expected, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('--help and --version say what there is', async () => {
    const [help, version] = await Promise.all([new Command('broker', '--help').ended, new Command('--version').ended])
    expect(help).toMatchObject({ status: 0, stderr: '' })
    expect(help.stdout).toMatch(/--brokers/)
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
