// FindCoordinator, versions 0-6: as Apache Kafka's, one key up to version 3, several from 4 (KIP-699).
// Key type 0, groups. Transactions and share groups have no coordinator here yet and are refused with INVALID_REQUEST.
import { errorCodes, type ErrorName } from '../../protocol/messages/error-table.js'
import { FindCoordinator } from '../../protocol/messages/find-coordinator.js'
import { addressOf } from '../advertised.js'
import { handler, type RequestContext } from './handler.js'

const keyTypes = ['group', 'transaction', 'share group'] as const

export const findCoordinatorHandler = handler(FindCoordinator, (request, context) => {
  const find = (key: string) => coordinatorOf(key, request.keyType, context)
  if (context.version < 4) return find(request.key)
  const coordinators = request.coordinatorKeys.map((key) => ({ key, ...find(key) }))
  return { coordinators: coordinators.map((found) => (found.errorCode === 0 ? { ...found, errorMessage: '' } : found)) }
})

function coordinatorOf(key: string, keyType: number, { cluster, connection }: RequestContext) {
  if (keyType !== 0) {
    const what = keyTypes[keyType] ?? `key of type ${keyType}`
    return none('INVALID_REQUEST', `this broker has no coordinator for a ${what} yet`)
  }
  const node = cluster.nodes.get(cluster.coordinatorOf(key))
  if (!node) return none('COORDINATOR_NOT_AVAILABLE', 'no broker is running that could coordinate the group')
  return { errorCode: errorCodes.NONE, errorMessage: 'NONE', nodeId: node.id, ...addressOf(node, connection) }
}

function none(error: ErrorName, errorMessage: string) {
  return { errorCode: errorCodes[error], errorMessage, nodeId: -1, host: '', port: -1 }
}
