// What the answer for one partition means for it: records to take, or which error and what is done about it. No state, no I/O.
import { RecordError, type KafkaError } from '../../errors.js'
import { splitBatches, type RecordBatch } from '../../protocol/records/record-batch.js'
import { errorByCode, errorCodes, toKafkaError } from '../../protocol/messages/error-table.js'
import { AbortedTransactions } from './aborted-transactions.js'
import type { FeedSource } from './consumer-record.js'
import type { PartitionAnswer } from './fetch-request.js'
import type { PartitionFeed } from './partition-feed.js'

export type FetchOutcome =
  | {
      readonly kind: 'records'
      readonly batches: readonly RecordBatch<FeedSource>[]
      readonly aborted: AbortedTransactions | undefined
      readonly nextOffset: number
    }
  | { readonly kind: 'nothing' }
  /** The offset is not in the log. */
  | { readonly kind: 'outOfRange'; readonly error: KafkaError }
  /** Passes by itself, or by asking another broker. */
  | { readonly kind: 'retry'; readonly error: KafkaError; readonly needsMetadata: boolean }
  /** The user must know. */
  | { readonly kind: 'fail'; readonly error: KafkaError }

export function outcomeOf(partition: PartitionFeed, answer: PartitionAnswer, broker: number): FetchOutcome {
  if (answer.errorCode !== 0) return outcomeOfError(partition, answer.errorCode, broker)
  const { records } = answer
  if (records === null || records.length === 0) return { kind: 'nothing' }
  let batches: RecordBatch<FeedSource>[]
  try {
    batches = splitBatches(records, partition.source)
  } catch (error) {
    return { kind: 'fail', error: error as KafkaError }
  }
  const last = batches.at(-1)
  if (last === undefined) {
    const what = `the broker sent ${records.length} bytes that are no whole batch`
    return { kind: 'fail', error: unreadable(partition, 'CORRUPT_MESSAGE', what) }
  }
  if (last.nextOffset <= partition.fetchOffset) {
    const what = `broker ${broker} answered with records up to offset ${last.lastOffset} only`
    return { kind: 'retry', error: unreadable(partition, 'CORRUPT_MESSAGE', what), needsMetadata: false }
  }
  const { abortedTransactions } = answer
  const aborted =
    abortedTransactions === null || abortedTransactions.length === 0
      ? undefined
      : new AbortedTransactions(abortedTransactions)
  return { kind: 'records', batches, aborted, nextOffset: last.nextOffset }
}

function outcomeOfError(partition: PartitionFeed, errorCode: number, broker: number): FetchOutcome {
  const { topic, fetchOffset } = partition
  const context = { what: `fetch of offset ${fetchOffset}`, topic, partition: partition.partition, broker }
  const error = toKafkaError(errorCode, context)
  const { reaction, retriable } = errorByCode(errorCode)
  if (reaction === 'resetOffset') {
    return { kind: 'outOfRange', error: unreadable(partition, 'OFFSET_OUT_OF_RANGE', error.message, error) }
  }
  // Retriable by Kafka's table, but for a reader it is a batch that cannot be read: it must not wait for ever in silence.
  if (errorCode === errorCodes.CORRUPT_MESSAGE) {
    return { kind: 'fail', error: unreadable(partition, 'CORRUPT_MESSAGE', error.message, error) }
  }
  if (!retriable) return { kind: 'fail', error }
  return { kind: 'retry', error, needsMetadata: reaction === 'refreshMetadata' }
}

function unreadable(partition: PartitionFeed, code: string, what: string, cause?: unknown): RecordError {
  const { name, topic, fetchOffset: offset } = partition
  const message = `${name} cannot be read at offset ${offset}: ${what}`
  return new RecordError(message, { code, topic, partition: partition.partition, offset, cause })
}
