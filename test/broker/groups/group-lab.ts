// A cluster without sockets: requests reach the handlers as the bytes of their version, and answers come back the same way.
import type { ClusterState } from '../../../src/broker/cluster-state.js'
import { ClusterState as State } from '../../../src/broker/cluster-state.js'
import { groupService, type GroupService } from '../../../src/broker/groups/group-service.js'
import type { ConnectionInfo } from '../../../src/broker/handlers/handler.js'
import { errorByCode } from '../../../src/protocol/messages/error-table.js'
import { JoinGroup } from '../../../src/protocol/messages/join-group.js'
import { OffsetCommit } from '../../../src/protocol/messages/offset-commit.js'
import { OffsetFetch } from '../../../src/protocol/messages/offset-fetch.js'
import { SyncGroup } from '../../../src/protocol/messages/sync-group.js'
import {
  Reader,
  Writer,
  type AnyApi,
  type RequestInput,
  type ResponseInput,
  type ResponseOf,
} from '../../../src/protocol/wire/index.js'
import { SettableClock } from '../../../src/util/settable-clock.js'
import { subscription } from './classic-events.js'

const connection: ConnectionInfo = {
  id: 1,
  clientHost: '127.0.0.1',
  localHost: '127.0.0.1',
  signal: new AbortController().signal,
  hangUp: (reason) => {
    throw new Error(reason)
  },
}

function rewritten(write: (writer: Writer) => void): Reader {
  const writer = new Writer()
  write(writer)
  return new Reader(Buffer.concat(writer.finish()))
}

export interface Joined {
  readonly memberId: string
  readonly generation: number
}

export class GroupLab implements Disposable {
  readonly clock = new SettableClock()
  readonly cluster: ClusterState
  readonly groups: GroupService

  constructor({ brokers = 1, config = {} }: { brokers?: number; config?: Readonly<Record<string, string>> } = {}) {
    this.cluster = new State(this.clock, new Map(Object.entries(config)))
    for (let id = 1; id <= brokers; id++) this.cluster.addNode(id, '127.0.0.1', 9_000 + id, null)
    this.cluster.createTopic('orders', 3, new Map())
    this.cluster.createTopic('payments', 1, new Map())
    this.groups = groupService(this.cluster)
  }

  [Symbol.dispose](): void {
    this.groups.close()
  }

  coordinatorOf(group: string): number {
    return this.cluster.coordinatorOf(group)
  }

  async ask<A extends AnyApi>(
    api: A,
    version: number,
    request: RequestInput<A>,
    broker?: number,
  ): Promise<ResponseOf<A>> {
    const to = broker ?? this.coordinatorOf(String((request as { groupId?: string }).groupId ?? 'billing'))
    const handler = this.groups.handlers.find((candidate) => candidate.api === api)
    const received = rewritten((writer) => api.request.write(writer, version, request))
    const answer = (await handler?.handle(api.request.read(received, version) as never, {
      broker: this.cluster.node(to),
      cluster: this.cluster,
      clock: this.clock,
      version,
      clientId: 'app',
      connection,
      errorFor: undefined,
    })) as ResponseInput<A>
    const sent = rewritten((writer) => api.response.write(writer, version, answer))
    return api.response.read(sent, version) as ResponseOf<A>
  }

  join(more: Partial<RequestInput<typeof JoinGroup>> = {}, version = 9, broker?: number) {
    const request = {
      groupId: 'billing',
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 60_000,
      memberId: '',
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: subscription('orders') }],
      ...more,
    }
    return this.ask(JoinGroup, version, version === 0 ? { ...request, rebalanceTimeoutMs: undefined } : request, broker)
  }

  sync(
    { memberId, generation }: Joined,
    assignments: Readonly<Record<string, string>> = {},
    more: Partial<RequestInput<typeof SyncGroup>> = {},
  ) {
    const listed = Object.entries(assignments).map(([id, text]) => ({ memberId: id, assignment: Buffer.from(text) }))
    return this.ask(SyncGroup, 4, {
      groupId: 'billing',
      generationId: generation,
      memberId,
      assignments: listed,
      ...more,
    })
  }

  /** A stable group of one dynamic member. */
  async stable(more: Partial<RequestInput<typeof JoinGroup>> = {}): Promise<Joined> {
    const joined = await this.join(more, 3)
    const member = { memberId: joined.memberId, generation: joined.generationId }
    const { groupId = 'billing' } = more
    await this.sync(member, { [member.memberId]: 'everything' }, { groupId })
    return member
  }

  async commit(offset: number, more: Partial<RequestInput<typeof OffsetCommit>> = {}, version = 9): Promise<string> {
    const partitions = [{ partitionIndex: 0, committedOffset: offset, committedMetadata: null }]
    const topics = [{ name: 'orders', partitions }]
    const { topics: answered } = await this.ask(OffsetCommit, version, {
      groupId: 'billing',
      memberId: '',
      topics,
      ...more,
    })
    return errorName(answered[0]?.partitions[0]?.errorCode)
  }

  async committed(groupId = 'billing'): Promise<Record<string, number>> {
    const { groups } = await this.ask(
      OffsetFetch,
      9,
      { groups: [{ groupId, topics: null }] },
      this.coordinatorOf(groupId),
    )
    const all = groups[0]?.topics ?? []
    return Object.fromEntries(
      all.flatMap(({ name, partitions }) =>
        partitions.map((at) => [`${name}-${at.partitionIndex}`, at.committedOffset]),
      ),
    )
  }
}

export function errorName(code: number | undefined): string {
  return errorByCode(code ?? -1).name
}
