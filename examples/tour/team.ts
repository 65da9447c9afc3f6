// The members of the group as the tour sees them: processes that are started, asked to stop, and killed.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { bold, remark } from './screen.js'
import type { Shop } from './shop.js'

export interface MemberSettings {
  readonly brokers: readonly string[]
  readonly group: string
  readonly topic: string
}

export type MemberMessage =
  | { readonly type: 'got' | 'gave'; readonly partitions: readonly number[] }
  | { readonly type: 'read'; readonly partition: number; readonly firstOffset: number; readonly lastOffset: number }

export class TeamMember {
  readonly name: string
  readonly partitions = new Set<number>()
  /** How many orders it has read. */
  orders = 0
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(name: string, { brokers, group, topic, tally }: Shop) {
    const settings: MemberSettings = { brokers, group, topic: topic.name }
    const program = new URL('./member.ts', import.meta.url)
    this.name = name
    this.#process = fork(program, [JSON.stringify(settings)], { execArgv: ['--import', 'tsx'] })
    this.#ended = once(this.#process, 'exit')
    this.#process.on('message', (message: MemberMessage) => {
      if (message.type === 'read') {
        const { partition, firstOffset, lastOffset } = message
        this.orders += lastOffset - firstOffset + 1
        tally.read(partition, firstOffset, lastOffset)
      } else {
        for (const one of message.partitions) this.partitions[message.type === 'got' ? 'add' : 'delete'](one)
        remark(`${bold(name)} ${message.type === 'got' ? 'gets' : 'gives up'} ${named(message.partitions)}`)
      }
    })
  }

  /** Stops it in good order: it commits what is done and leaves the group. */
  async stop(): Promise<void> {
    this.#process.send('stop')
    await this.#ended
  }

  /** kill -9: it can neither commit nor say goodbye. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#ended
  }

  /** For the end of the tour, however it ends. */
  end(): void {
    this.#process.kill('SIGKILL')
  }
}

function named(partitions: readonly number[]): string {
  if (partitions.length === 0) return 'nothing'
  return `partition${partitions.length === 1 ? '' : 's'} ${[...partitions].sort().join(', ')}`
}
