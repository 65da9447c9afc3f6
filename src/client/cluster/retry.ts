// The one retry layer: p-retry without a timer of its own, under one deadline, ended by the caller's signal or by close().
import pRetry from 'p-retry'
import { abortedError, isKafkaError, timeoutError, type KafkaError } from '../../errors.js'
import { untilAborted } from '../../net/until-aborted.js'
import { backoffMs, type Backoff } from '../../util/backoff.js'
import { Deadline } from '../../util/deadline.js'

export interface RetryOptions {
  /** For errors and events: 'Metadata', 'coordinator of group billing'. */
  readonly what: string
  readonly deadline: Deadline
  readonly backoff: Backoff
  /** Operations that run; close() aborts them all with its error. */
  readonly running: Set<AbortController>
  /** Told before each wait. */
  readonly onRetry: (error: KafkaError, attempt: number, waitMs: number) => void
}

/** Repeats the attempt while it throws retriable errors. Errors that are not KafkaErrors are defects: they are never retried. */
export async function withRetries<T>(
  { what, deadline, backoff, running, onRetry }: RetryOptions,
  attempt: (deadline: Deadline, attempt: number) => Promise<T>,
): Promise<T> {
  deadline.check(what)
  const { clock, timeoutMs, signal: callers } = deadline
  const operation = new AbortController()
  const { signal } = operation
  let lastError: unknown

  const onAbort = () => operation.abort(abortedError(callers as AbortSignal, what))
  const onTime = () => operation.abort(timeoutError(what, timeoutMs, lastError))
  callers?.addEventListener('abort', onAbort, { once: true })
  const timer = Number.isFinite(timeoutMs) ? clock.setTimer(deadline.remainingMs(), onTime) : undefined
  running.add(operation)
  const inner = new Deadline(clock, deadline.remainingMs(), signal)
  try {
    // An attempt that does not heed its deadline cannot hold the operation up.
    return await pRetry((number) => untilAborted(attempt(inner, number), signal), {
      retries: Infinity,
      minTimeout: 0,
      maxTimeout: 0,
      signal,
      shouldRetry: ({ error }) => isRetriable(error),
      onFailedAttempt: async ({ error, attemptNumber }) => {
        if (signal.aborted || !isRetriable(error)) return
        // An attempt that the end of the whole cut short tells less than what failed before it. (Timers fire up to 1 ms early.)
        if (lastError === undefined || deadline.remainingMs() > 1) lastError = error
        const waitMs = backoffMs(backoff, attemptNumber)
        onRetry(error, attemptNumber, waitMs)
        await clock.sleep(waitMs, signal)
      },
    })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    running.delete(operation)
    timer?.cancel()
    callers?.removeEventListener('abort', onAbort)
  }
}

function isRetriable(error: unknown): error is KafkaError {
  return isKafkaError(error) && error.retriable
}
