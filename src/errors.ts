// Every error that ottla throws on purpose: KafkaError and the few subclasses that a caller treats differently.
// Knows nothing of the protocol; the table of what brokers answer is protocol/messages/error-table.ts.

const BRAND = Symbol.for('ottla.KafkaError')

/** Codes of failures that ottla itself finds. What a broker answers carries Kafka's own name as its code. */
export type ClientErrorCode =
  | 'ABORTED'
  | 'BUFFER_FULL'
  | 'CLOSED'
  | 'CONNECTION_FAILED'
  | 'CONNECTION_LOST'
  | 'DELIVERY_FAILED'
  | 'DESERIALIZATION_FAILED'
  | 'INVALID_ARGUMENT'
  | 'INVALID_OPTION'
  | 'LISTENER_FAILED'
  | 'MALFORMED_MESSAGE'
  | 'NOT_ASSIGNED'
  | 'NOT_SUPPORTED'
  | 'TIMEOUT'

/** `NOT_LEADER_OR_FOLLOWER` and the like from a broker, or one of {@link ClientErrorCode}. */
export type ErrorCode = ClientErrorCode | (string & {})

export interface KafkaErrorDetails {
  readonly code: ErrorCode
  /** Whether the same call may succeed later without anybody changing anything. @default false */
  readonly retriable?: boolean | undefined
  readonly cause?: unknown
  readonly maybeWritten?: boolean | undefined
}

/** The base of all errors of ottla. Decide by {@link KafkaError.code}, never by the message. */
export class KafkaError extends Error {
  readonly code: ErrorCode
  readonly retriable: boolean
  /** Of a send() that failed: whether the record may be in the log nevertheless. Left undefined by everything else. */
  readonly maybeWritten: boolean | undefined
  readonly [BRAND] = true

  constructor(message: string, { code, retriable = false, cause, maybeWritten }: KafkaErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'KafkaError'
    this.code = code
    this.retriable = retriable
    this.maybeWritten = maybeWritten
  }
}

/** The caller asked for something that cannot be: a bad option or argument, a closed client, a feature of a later version. */
export class UsageError extends KafkaError {
  override readonly name = 'UsageError'

  constructor(message: string, code: ErrorCode = 'INVALID_ARGUMENT', cause?: unknown) {
    super(message, { code, cause })
  }
}

/** A broker cannot be reached, or the connection broke. Retriable unless the peer is not a Kafka broker at all. */
export class ConnectionError extends KafkaError {
  override readonly name = 'ConnectionError'

  constructor(message: string, details: Partial<KafkaErrorDetails> = {}) {
    super(message, { code: 'CONNECTION_FAILED', retriable: true, ...details })
  }
}

/** The broker knows the client and refuses what it asked for. */
export class AuthorizationError extends KafkaError {
  override readonly name = 'AuthorizationError'
}

/** Another producer or group member took this one's identity over. Final: close this client. */
export class FencedError extends KafkaError {
  override readonly name = 'FencedError'
}

/** One record, or the batch that holds it, cannot be read or written. */
export class RecordError extends KafkaError {
  override readonly name = 'RecordError'
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** Where a reader can go on behind it, if that is known. */
  readonly nextOffset: number | undefined

  constructor(
    message: string,
    details: KafkaErrorDetails & {
      readonly topic: string
      readonly partition: number
      readonly offset: number
      readonly nextOffset?: number | undefined
    },
  ) {
    super(message, details)
    this.topic = details.topic
    this.partition = details.partition
    this.offset = details.offset
    this.nextOffset = details.nextOffset
  }
}

/** True for errors of any copy and format (ESM or CommonJS) of this package. */
export function isKafkaError(error: unknown): error is KafkaError {
  return typeof error === 'object' && error !== null && (error as { [BRAND]?: unknown })[BRAND] === true
}

/** What was thrown, if it is one of ours; else a failure that should not have been, with it as the cause. */
export function asKafkaError(error: unknown, what: string): KafkaError {
  if (isKafkaError(error)) return error
  return new KafkaError(`${what} failed in a way that it should not`, { code: 'UNKNOWN_SERVER_ERROR', cause: error })
}

export function abortedError(signal: AbortSignal, what: string): KafkaError {
  return new KafkaError(`${what} was aborted by its signal`, { code: 'ABORTED', cause: signal.reason })
}

export function timeoutError(what: string, timeoutMs: number, cause?: unknown): KafkaError {
  return new KafkaError(`${what} did not finish within ${timeoutMs} ms`, { code: 'TIMEOUT', retriable: true, cause })
}
