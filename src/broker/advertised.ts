// A broker's address as a client is told it.
import type { BrokerNode } from './cluster-state.js'
import type { ConnectionInfo } from './handlers/handler.js'
import type { Partition } from './topic.js'

const wildcards = new Set(['0.0.0.0', '::'])

/** A broker that listens on all addresses is advertised at the one by which the client came. */
export function addressOf(
  node: BrokerNode,
  connection: ConnectionInfo,
): { readonly host: string; readonly port: number } {
  return { host: wildcards.has(node.host) ? connection.localHost : node.host, port: node.port }
}

/** KIP-951: who leads a partition, for an answer that says that this broker does not. */
export function currentLeader(partition: Partition): { readonly leaderId: number; readonly leaderEpoch: number } {
  return { leaderId: partition.leaderId, leaderEpoch: partition.leaderEpoch }
}

/** The brokers that `leaders` name, as an answer's nodeEndpoints. */
export function endpointsOf(
  leaders: Iterable<number>,
  nodes: ReadonlyMap<number, BrokerNode>,
  connection: ConnectionInfo,
) {
  return [...new Set(leaders)].flatMap((id) => {
    const node = nodes.get(id)
    return node?.isAlive ? [{ nodeId: id, ...addressOf(node, connection), rack: node.rack }] : []
  })
}
