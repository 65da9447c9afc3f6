// Carries a call on many items through its retries: every item ends with a value or an error of its own, and those that may still
// succeed are asked for again, together, until the deadline.
import { ConnectionError, isKafkaError, KafkaError, timeoutError } from '../../errors.js'
import { errorCodes, toKafkaError, type ErrorName } from '../../protocol/messages/error-table.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'

/** What is added to the value of an item, or stands in its place. */
export interface ItemOutcome {
  /** undefined: it is done. */
  readonly error: KafkaError | undefined
  /**
   * Of an item that failed: whether an earlier request of this very call, whose answer was lost, may have done it. TOPIC_ALREADY_EXISTS may
   * then mean the topic that this call made. `error.cause` tells how the answer was lost.
   */
  readonly maybeDone: boolean
}

type Nothing<Value> = { readonly [Name in keyof Value]?: undefined }

/** The result for one item: what it is, and either its value or its error. Test `error` first, then TypeScript knows the rest. */
export type AdminResult<Item, Value = unknown> =
  | (Item & Value & ItemOutcome & { readonly error: undefined })
  | (Item & Nothing<Value> & ItemOutcome & { readonly error: KafkaError })

/** One item on its way. */
export class Job<Item, Value = unknown> {
  readonly item: Item
  #outcome: { readonly value: Value } | { readonly error: KafkaError } | undefined
  #lastError: KafkaError | undefined
  #lost: KafkaError | undefined
  #isAwaited = false
  /** In the attempt that runs. */
  #isPostponed = false

  constructor(item: Item) {
    this.item = item
  }

  get isOpen(): boolean {
    return this.#outcome === undefined
  }

  /** Why it is still open. */
  get lastError(): KafkaError | undefined {
    return this.#lastError
  }

  /** How an earlier answer was lost, if one was: the request may have been carried out. */
  get lost(): KafkaError | undefined {
    return this.#lost
  }

  done(value: Value): void {
    this.#outcome ??= { value }
  }

  fail(error: KafkaError): void {
    this.#outcome ??= { error }
  }

  /** Not now: the next attempt asks for it again. */
  postpone(error: KafkaError): void {
    this.#isPostponed = true
    // That an attempt had no answer in time tells less than what was answered before.
    if (this.#lastError === undefined || error.code !== 'TIMEOUT') this.#lastError = error
  }

  /** Sent again without an answer in between: the first one was lost. */
  sent(): void {
    if (this.#isAwaited)
      this.#lost ??= new ConnectionError('an earlier request got no answer', { code: 'CONNECTION_LOST' })
    this.#isAwaited = true
  }

  answered(lost?: KafkaError): void {
    this.#isAwaited = false
    this.#lost = lost ?? this.#lost
  }

  /** What the broker said of this item. `transient` are the errors that a later attempt may not meet again. */
  refused(errorCode: number, what: string, transient: ReadonlySet<number>, details: ErrorDetails = {}): void {
    const error = toKafkaError(errorCode, { what, ...details, cause: this.#lost })
    if (errorCode === errorCodes.REQUEST_TIMED_OUT) this.#lost = error
    if (transient.has(errorCode)) this.postpone(error)
    else this.fail(error)
  }

  /** The result, once settled. */
  result<Shown>(shown: Shown): AdminResult<Shown, Value> {
    const outcome = this.#outcome
    if (outcome === undefined) throw new KafkaError('an item has no outcome', { code: 'MALFORMED_MESSAGE' })
    return 'value' in outcome
      ? { ...shown, ...outcome.value, error: undefined, maybeDone: false }
      : { ...shown, error: outcome.error, maybeDone: this.#maybeDone }
  }

  get #maybeDone(): boolean {
    return this.#lost !== undefined || this.#isAwaited
  }

  /** @internal Before each attempt. */
  reopen(): void {
    this.#isPostponed = false
  }

  /** @internal Nothing was said of it in this attempt. */
  get isLeftOut(): boolean {
    return this.isOpen && !this.#isPostponed
  }
}

export interface ErrorDetails {
  readonly topic?: string | undefined
  readonly partition?: number | undefined
  readonly broker?: number | undefined
  readonly brokerMessage?: string | null | undefined
}

export function codesOf(...names: readonly ErrorName[]): ReadonlySet<number> {
  return new Set(names.map((name) => errorCodes[name]))
}

/**
 * Repeats the attempt for the jobs that are still open. When the deadline is over, each of those fails with TIMEOUT and its last error as
 * the cause. Throws only what ends the whole call: ABORTED, CLOSED, and defects.
 */
export async function settle<Item, Value>(
  cluster: Cluster,
  what: string,
  items: readonly Item[],
  deadline: Deadline,
  attempt: (open: readonly Job<Item, Value>[], deadline: Deadline, attempt: number) => Promise<void>,
): Promise<Job<Item, Value>[]> {
  const jobs = items.map((item) => new Job<Item, Value>(item))
  if (jobs.length === 0) return jobs
  try {
    await cluster.retry(what, deadline, async (attemptDeadline, number) => {
      const open = jobs.filter((job) => job.isOpen)
      for (const job of open) job.reopen()
      await attempt(open, attemptDeadline, number)
      for (const job of open) if (job.isLeftOut) job.postpone(leftOut(what))
      const waiting = open.find((job) => job.isOpen)
      if (waiting?.lastError) throw waiting.lastError
    })
  } catch (error) {
    if (!isKafkaError(error) || error.code !== 'TIMEOUT') throw error
    for (const job of jobs) job.fail(timeoutError(what, deadline.timeoutMs, job.lastError ?? job.lost ?? error.cause))
  }
  return jobs
}

/** Sends one request about these jobs. When it fails they fail or are postponed, and there is no answer. */
export async function exchange<Response>(
  jobs: readonly Job<unknown>[],
  send: (sent: () => void) => Promise<Response>,
): Promise<Response | undefined> {
  let isSent = false
  try {
    const response = await send(() => {
      isSent = true
      for (const job of jobs) job.sent()
    })
    for (const job of jobs) job.answered()
    return response
  } catch (error) {
    if (!isKafkaError(error) || error.code === 'ABORTED' || error.code === 'CLOSED') throw error
    for (const job of jobs) {
      if (isSent) job.answered(error)
      if (error.retriable) job.postpone(error)
      else job.fail(error)
    }
    return undefined
  }
}

/** The value of a call on one item; throws its error. */
export function only<Result extends ItemOutcome>(
  results: readonly Result[],
): Omit<Extract<Result, { readonly error: undefined }>, keyof ItemOutcome> {
  const [result] = results
  if (result === undefined) throw new KafkaError('there is no result', { code: 'MALFORMED_MESSAGE' })
  const { error, maybeDone: _, ...value } = result
  if (error !== undefined) throw error
  return value as unknown as Omit<Extract<Result, { readonly error: undefined }>, keyof ItemOutcome>
}

function leftOut(what: string): KafkaError {
  return new KafkaError(`${what}: the broker's answer leaves an item out`, {
    code: 'MALFORMED_MESSAGE',
    retriable: true,
  })
}
