// Fake clusters for the tests of Cluster: what a script answers with is built here, in Kafka's shapes.
import { Cluster, clientOptions, type ClientOptions } from '../../../src/client/cluster/index.js'
import type { FindCoordinator } from '../../../src/protocol/messages/find-coordinator.js'
import { Metadata } from '../../../src/protocol/messages/metadata.js'
import type { RequestOf, ResponseInput } from '../../../src/protocol/wire/index.js'
import { resolveOptions } from '../../../src/util/options.js'
import type { FakeServer } from '../../helpers/fake-server.js'

export const heartbeat = { groupId: 'g', generationId: 1, memberId: 'm' }

export const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ'

export interface FakeTopic {
  readonly errorCode?: number
  readonly topicId?: string
  /** The leader of each partition, with its epoch. */
  readonly leaders?: readonly (readonly [leaderId: number, leaderEpoch: number])[]
}

export function cluster(brokers: readonly (FakeServer | string)[], options: Partial<ClientOptions> = {}): Cluster {
  const addresses = brokers.map((one) => (typeof one === 'string' ? one : one.address))
  const given = { brokers: addresses, logger: 'silent', retryBackoffMs: 5, retryBackoffMaxMs: 20, ...options }
  return new Cluster(resolveOptions('Test', given, clientOptions), 'Test')
}

/** The metadata answer about the topics asked for. */
export function metadata(
  servers: readonly FakeServer[],
  topics: Readonly<Record<string, FakeTopic>>,
  request: RequestOf<typeof Metadata>,
): ResponseInput<typeof Metadata> {
  return {
    clusterId: 'fake',
    controllerId: 1,
    brokers: servers.map(({ port }, i) => ({ nodeId: i + 1, host: '127.0.0.1', port })),
    topics: (request.topics ?? []).map(({ name }) => {
      const { errorCode = 0, leaders = [], topicId: id = topicId } = topics[name as string] ?? { errorCode: 3 }
      return {
        errorCode,
        name,
        topicId: id,
        partitions: leaders.map(([leaderId, leaderEpoch], partitionIndex) => ({
          errorCode: leaderId < 0 ? 5 : 0,
          partitionIndex,
          leaderId,
          leaderEpoch,
          replicaNodes: [1],
          isrNodes: [1],
        })),
      }
    }),
  }
}

/** Has every server tell of all of them and of these topics. */
export function serveMetadata(servers: readonly FakeServer[], topics: Readonly<Record<string, FakeTopic>> = {}): void {
  for (const server of servers) server.on(Metadata, (request) => metadata(servers, topics, request))
}

export function coordinatorAt(
  server: FakeServer,
  nodeId: number,
  request: RequestOf<typeof FindCoordinator>,
  errorCode = 0,
): ResponseInput<typeof FindCoordinator> {
  const one = { nodeId, host: '127.0.0.1', port: server.port, errorCode, errorMessage: null }
  return request.coordinatorKeys.length === 0
    ? one
    : { coordinators: request.coordinatorKeys.map((key) => ({ ...one, key })) }
}
