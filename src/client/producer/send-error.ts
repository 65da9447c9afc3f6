// The errors of send(): one record's, or those of an array with what became of each record.
import { KafkaError } from '../../errors.js'
import type { SendOutcome } from './types.js'

/** A send() with an array of which at least one record failed. */
export class SendError extends KafkaError {
  override readonly name = 'SendError'
  /** What became of each record, in the order in which they were given. */
  readonly results: readonly SendOutcome[]

  constructor(results: readonly SendOutcome[]) {
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    const first = failures[0] as KafkaError
    const message = `${failures.length} of ${results.length} records were not delivered; the first because: ${first.message}`
    super(message, {
      code: first.code,
      retriable: failures.every((error) => error.retriable),
      cause: first,
      maybeWritten: failures.some((error) => error.maybeWritten === true),
    })
    this.results = results
  }
}

/** The error with the answer to the question whether the record may be in the log nevertheless. */
export function withOutcome<E extends KafkaError>(error: E, maybeWritten: boolean): E {
  return Object.assign(error, { maybeWritten })
}
