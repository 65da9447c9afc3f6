// What a connection's failures are called. CONNECTION_FAILED: nothing was sent, for certain. CONNECTION_LOST, TIMEOUT and
// MALFORMED_MESSAGE: the broker may have done what was asked.
import { ConnectionError, KafkaError } from '../errors.js'
import type { AnyApi } from '../protocol/wire/index.js'
import type { PendingRequest } from './pending-request.js'

export function connectionLost(where: string, why: string, cause?: unknown): ConnectionError {
  return new ConnectionError(`${where}: ${why}`, { code: 'CONNECTION_LOST', cause })
}

export function handshakeFailed(where: string, why: string, cause?: unknown): ConnectionError {
  const hint = 'is it a Kafka broker, is this a TLS port?'
  return new ConnectionError(`${where}: ${why} during the handshake; ${hint}`, { cause })
}

export function closedHere(where: string, what: string): KafkaError {
  return new KafkaError(`${what} to ${where} has ended: the connection was closed here`, { code: 'CLOSED' })
}

export function notSent(where: string, api: AnyApi, cause: KafkaError | undefined): KafkaError {
  return new ConnectionError(`${api.name} was not sent: the connection to ${where} is closed`, { cause })
}

export function noAnswerInTime(where: string, { api, timeoutMs }: PendingRequest): ConnectionError {
  return new ConnectionError(`${api.name} to ${where} got no answer within ${timeoutMs} ms`, { code: 'TIMEOUT' })
}

export function unreadableAnswer(where: string, api: AnyApi, version: number, cause: unknown): ConnectionError {
  const message = `the answer of ${where} to ${api.name} ${version} cannot be read`
  return new ConnectionError(message, { code: 'MALFORMED_MESSAGE', cause })
}

/** For a request that was waiting when the connection ended; `reason` is undefined when it was closed from our side. */
export function requestLost(
  where: string,
  { api, chunks }: PendingRequest,
  reason: KafkaError | undefined,
): KafkaError {
  if (!reason) return closedHere(where, api.name)
  if (reason.code === 'ABORTED') return reason
  if (chunks) return notSent(where, api, reason)
  return new ConnectionError(`${api.name} to ${where} got no answer: ${reason.message}`, {
    code: reason.code === 'CONNECTION_FAILED' ? reason.code : 'CONNECTION_LOST',
    retriable: reason.retriable,
    cause: reason,
  })
}
