// InitProducerId, versions 0-5, for idempotent producers. Deviation: there are no transactions yet, so a transactional id is refused
// with TRANSACTIONAL_ID_NOT_FOUND.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { InitProducerId } from '../../protocol/messages/init-producer-id.js'
import { handler } from './handler.js'

export const initProducerIdHandler = handler(InitProducerId, (request, { cluster }) => {
  const failed = (errorCode: number) => ({ throttleTimeMs: 0, errorCode, producerId: -1, producerEpoch: -1 })
  if (request.transactionalId !== null) {
    if (request.transactionalId === '') return failed(errorCodes.INVALID_REQUEST)
    return failed(errorCodes.TRANSACTIONAL_ID_NOT_FOUND)
  }
  if (request.producerId < 0 !== request.producerEpoch < 0) return failed(errorCodes.INVALID_REQUEST)
  // Without a transactional id the old id and epoch say nothing that the broker keeps: a new id is the bump (as in Kafka).
  return { throttleTimeMs: 0, errorCode: errorCodes.NONE, producerId: cluster.nextProducerId(), producerEpoch: 0 }
})
