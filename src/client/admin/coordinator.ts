// Requests about single groups, each sent to its coordinator; many groups are asked about at the same time.
import { isKafkaError, timeoutError, type KafkaError } from '../../errors.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import type { AnyApi, RequestInput, ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'
import { codesOf, Job, type AdminResult } from './settle.js'

/** What a coordinator says and may not say the next time, or what another one may not. */
export const transientAtCoordinator = codesOf(
  'COORDINATOR_LOAD_IN_PROGRESS',
  'COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR',
  'REQUEST_TIMED_OUT',
  'UNSTABLE_OFFSET_COMMIT',
)

export interface GroupRequest<A extends AnyApi> {
  readonly what: string
  readonly api: A
  readonly request: (version: number) => RequestInput<A>
  /** Of the answer; only those of `transientAtCoordinator` are retried. */
  readonly errorCodesOf: (response: ResponseOf<A>) => Iterable<number>
  readonly maxVersion?: number | undefined
}

/** The coordinator's answer, whatever it says that is not transient. Retries until the deadline. */
export function askCoordinator<A extends AnyApi>(
  cluster: Cluster,
  group: string,
  { what, api, request, errorCodesOf, maxVersion }: GroupRequest<A>,
  deadline: Deadline,
  job?: Job<string>,
): Promise<ResponseOf<A>> {
  const build = (version: number) => {
    job?.sent()
    return request(version)
  }
  const errorCodeOf = (response: ResponseOf<A>) => {
    job?.answered()
    for (const code of errorCodesOf(response)) if (transientAtCoordinator.has(code)) return code
    return errorCodes.NONE
  }
  // Nothing that Admin asks is parked by a broker, so that one socket per broker does.
  return cluster.sendToCoordinator(group, api, build, { deadline, maxVersion, what, errorCodeOf, channel: 'default' })
}

/** The same for many groups: what fails for one of them stands in its place. Throws only ABORTED, CLOSED and defects. */
export function eachGroup<Value>(
  groups: readonly string[],
  deadline: Deadline,
  handle: (group: string, job: Job<string>) => Promise<Value>,
): Promise<AdminResult<{ readonly group: string }, Value>[]> {
  return Promise.all(
    groups.map(async (group) => {
      const job = new Job<string, Value>(group)
      try {
        job.done(await handle(group, job))
      } catch (error) {
        if (!isKafkaError(error) || error.code === 'ABORTED' || error.code === 'CLOSED') throw error
        job.fail(error.code === 'TIMEOUT' ? inTime(group, deadline, error) : error)
      }
      return job.result({ group })
    }),
  )
}

function inTime(group: string, { timeoutMs }: Deadline, { cause }: KafkaError): KafkaError {
  return timeoutError(`the request about group ${group}`, timeoutMs, cause)
}
