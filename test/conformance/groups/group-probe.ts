// Talks to a group's coordinator by bare requests and writes down what it answers, in lines that are the same on every broker:
// ids become M1, M2, … in the order of their appearance, names of a run become fixed ones, what has no order is sorted.
import { randomUUID } from 'node:crypto'
import { CreateTopics } from '../../../src/protocol/messages/create-topics.js'
import { DescribeGroups } from '../../../src/protocol/messages/describe-groups.js'
import { errorByCode } from '../../../src/protocol/messages/error-table.js'
import { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { Heartbeat } from '../../../src/protocol/messages/heartbeat.js'
import { JoinGroup } from '../../../src/protocol/messages/join-group.js'
import { LeaveGroup } from '../../../src/protocol/messages/leave-group.js'
import { ListGroups } from '../../../src/protocol/messages/list-groups.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import { OffsetCommit } from '../../../src/protocol/messages/offset-commit.js'
import { SyncGroup } from '../../../src/protocol/messages/sync-group.js'
import { zeroUuid, type AnyApi, type RequestInput, type ResponseOf } from '../../../src/protocol/wire/index.js'
import { subscription } from '../../broker/groups/classic-events.js'
import { WireClient } from '../../helpers/wire-client.js'

const memberPattern = /[\w.]+-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const silent = new Set(['throttleTimeMs', 'nodeId', 'host', 'port'])

export interface Who {
  readonly memberId: string
  readonly generationId: number
}

export class GroupProbe implements Disposable {
  readonly group = `group-${randomUUID().slice(0, 8)}`
  readonly lines: string[] = []
  readonly topicIds = new Map<string, string>()
  readonly #members = new Map<string, string>()
  readonly #names = new Map<string, string>([[this.group, 'GROUP']])
  /** Two, as a coordinator serves one request at a time per connection and a join may wait. */
  #clients: readonly [WireClient, WireClient] | undefined

  static async open(brokers: readonly string[]): Promise<GroupProbe> {
    const probe = new GroupProbe()
    const first = brokers[0] ?? ''
    using bootstrap = await WireClient.open(first)
    await probe.#createTopics(bootstrap)
    const address = await retried(async () => {
      const { coordinators } = await bootstrap.ask(FindCoordinator, 4, { coordinatorKeys: [probe.group] })
      const [found] = coordinators
      return found?.errorCode === 0 ? `${found.host}:${found.port}` : undefined
    })
    probe.#clients = [await WireClient.open(address, 'probe'), await WireClient.open(address, 'probe')]
    await probe.#topicsAt(probe.client)
    // A coordinator that has just been made may still be loading.
    await retried(async () => {
      const { errorCode } = await probe.client.ask(Heartbeat, 0, {
        groupId: probe.group,
        generationId: 1,
        memberId: 'x',
      })
      return errorByCode(errorCode).name === 'UNKNOWN_MEMBER_ID' ? true : undefined
    })
    return probe
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients ?? []) client[Symbol.dispose]()
  }

  get client(): WireClient {
    return this.#client(false)
  }

  #client(second: boolean): WireClient {
    const client = this.#clients?.[second ? 1 : 0]
    if (!client) throw new Error('the probe is not open')
    return client
  }

  topic(name: 'orders' | 'payments'): string {
    return `${name}-${this.group}`
  }

  async #createTopics(client: WireClient): Promise<void> {
    const names = [this.topic('orders'), this.topic('payments')]
    const topics = names.map((name) => ({
      name,
      numPartitions: 3,
      replicationFactor: -1,
      assignments: [],
      configs: [],
    }))
    await client.ask(CreateTopics, 5, { topics, timeoutMs: 30_000 })
    for (const { name, topicId } of await this.#topicsAt(client)) {
      const short = String(name).split('-')[0] ?? ''
      this.topicIds.set(short, topicId)
      this.#names.set(topicId, `ID OF ${short}`).set(String(name), short)
    }
  }

  /** Every broker learns of a new topic in its own time. */
  #topicsAt(client: WireClient) {
    const topics = [this.topic('orders'), this.topic('payments')].map((name) => ({ name }))
    return retried(async () => {
      const answer = await client.ask(Metadata, 12, { topics, allowAutoTopicCreation: false })
      return answer.topics.every(({ errorCode }) => errorCode === 0) ? answer.topics : undefined
    })
  }

  /** Writes an answer down. */
  say<R extends object>(label: string, response: R): R {
    this.lines.push(`${label}: ${this.#rendered(response)}`)
    return response
  }

  async ask<A extends AnyApi>(
    label: string,
    api: A,
    version: number,
    request: RequestInput<A>,
  ): Promise<ResponseOf<A>> {
    return this.say(label, await this.client.ask(api, version, request))
  }

  join(more: Partial<RequestInput<typeof JoinGroup>> = {}, version = 9, second = false) {
    const request = {
      groupId: this.group,
      sessionTimeoutMs: 30_000,
      rebalanceTimeoutMs: 30_000,
      memberId: '',
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: subscription(this.topic('orders')) }],
      ...more,
    }
    return this.#client(second).ask(
      JoinGroup,
      version,
      version === 0 ? { ...request, rebalanceTimeoutMs: undefined } : request,
    )
  }

  sync(who: Who, more: Partial<RequestInput<typeof SyncGroup>> = {}, version = 5, second = false) {
    const { memberId, generationId } = who
    const protocol = version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}
    const request = { groupId: this.group, memberId, generationId, assignments: [], ...protocol, ...more }
    return this.#client(second).ask(SyncGroup, version, request)
  }

  heartbeat({ memberId, generationId }: Who, groupInstanceId?: string) {
    return this.client.ask(Heartbeat, 4, { groupId: this.group, memberId, generationId, groupInstanceId })
  }

  leave(...members: { memberId: string; groupInstanceId?: string | null }[]) {
    return this.client.ask(LeaveGroup, 5, { groupId: this.group, members })
  }

  commit(more: Partial<RequestInput<typeof OffsetCommit>> = {}, version = 9) {
    const partitions = [{ partitionIndex: 0, committedOffset: 5, committedMetadata: null }]
    const topic = version < 10 ? { name: this.topic('orders') } : { topicId: this.topicIds.get('orders') ?? zeroUuid }
    return this.client.ask(OffsetCommit, version, {
      groupId: this.group,
      memberId: '',
      topics: [{ ...topic, partitions }],
      ...more,
    })
  }

  /** What is described and listed is what is replicated, which with several nodes comes a moment later. */
  async inState(state: string): Promise<void> {
    await retried(async () => {
      const { groups } = await this.client.ask(DescribeGroups, 5, { groups: [this.group] })
      return groups[0]?.groupState === state ? true : undefined
    })
  }

  /** Only this group, as others may be on the broker. */
  async list(filters: RequestInput<typeof ListGroups> = {}, version = 5) {
    const answer = await this.client.ask(ListGroups, version, filters)
    return { ...answer, groups: answer.groups.filter(({ groupId }) => groupId === this.group) }
  }

  /** A stable group of one, without writing it down. */
  async stable(more: Partial<RequestInput<typeof JoinGroup>> = {}): Promise<Who> {
    const who = await this.join(more, 3)
    const assignments = [{ memberId: who.memberId, assignment: Buffer.from('everything') }]
    await this.sync(who, { assignments }, 4)
    return who
  }

  #rendered(value: unknown, name = ''): string {
    if (typeof value === 'number' && name === 'errorCode') return errorByCode(value).name
    if (Buffer.isBuffer(value)) return JSON.stringify(this.#named(value.toString('latin1').replace(/[^ -~]/g, '.')))
    if (typeof value === 'string') return JSON.stringify(this.#named(value))
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#rendered(item))
      return `[${['topics', 'partitions', 'members', 'results'].includes(name) ? items.sort().join(' ') : items.join(' ')}]`
    }
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const shown = Object.entries(value).filter(([field, content]) => !silent.has(field) && !isNothing(content))
    return `{${shown.map(([field, content]) => `${field} ${this.#rendered(content, field)}`).join(', ')}}`
  }

  #named(text: string): string {
    let named = text.replace(memberPattern, (id) => {
      const known = this.#members.get(id)
      if (known !== undefined) return known
      const next = `M${this.#members.size + 1}`
      this.#members.set(id, next)
      return next
    })
    for (const [name, fixed] of [...this.#names].reverse()) named = named.replaceAll(name, fixed)
    return named
  }
}

function isNothing(content: unknown): boolean {
  if (Buffer.isBuffer(content) || Array.isArray(content)) return content.length === 0
  return content === null || content === '' || content === zeroUuid || content === false
}

async function retried<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 1_500; i++) {
    const result = await attempt()
    if (result !== undefined) return result
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the broker did not get there in 30 s')
}
