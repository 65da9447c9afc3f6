// The errors of single records that never came into a batch.
import { isKafkaError, KafkaError, UsageError } from '../../errors.js'
import { errorByName, toKafkaError } from '../../protocol/messages/error-table.js'

export function tooLarge(topic: string, bytes: number, limit: number): UsageError {
  return new UsageError(
    `a record of ${bytes} bytes for ${topic} is larger than bufferBytes (${limit})`,
    'MESSAGE_TOO_LARGE',
  )
}

/** The topic's error for one record: what the metadata holds is shared and stays as it is. */
export function ofTopic(error: KafkaError, topic: string): KafkaError {
  const known = errorByName(error.code)
  if (known === undefined)
    return new KafkaError(error.message, { code: error.code, retriable: error.retriable, cause: error })
  return toKafkaError(known.code, { what: 'send', topic, cause: error })
}

/** Whatever was thrown over a record, as an error of ours. */
export function toSendFailure(error: unknown, topic: string): KafkaError {
  if (isKafkaError(error)) return error
  const why = error instanceof Error ? error.message : String(error)
  return new UsageError(`the record for ${topic} cannot be sent: ${why}`, 'INVALID_ARGUMENT', error)
}
