// The options of a GroupMember, checked once.
import { UsageError } from '../../errors.js'
import { cooperativeSticky } from '../../protocol/assignment/cooperative-sticky.js'
import type { Assignor } from '../../protocol/assignment/assignor.js'
import { range } from '../../protocol/assignment/range.js'
import { roundRobin } from '../../protocol/assignment/round-robin.js'
import {
  arrayOf,
  integer,
  nonEmptyString,
  oneOf,
  option,
  optional,
  required,
  resolveOptions,
  type Check,
  type Resolved,
} from '../../util/options.js'
import { clientOptions, type ClientOptions } from '../cluster/index.js'
import { fetchOptions, topicsCheck, type FetchOptions } from '../consumer/consumer-options.js'
import { startPosition, type StartPosition } from '../consumer/positions.js'
import type { TopicLike } from '../serde/index.js'

const assignors = new Map<string, Assignor>([range, roundRobin, cooperativeSticky].map((one) => [one.name, one]))

export type AssignorName = 'range' | 'roundrobin' | 'cooperative-sticky'

export interface GroupMemberOptions<T extends TopicLike = TopicLike> extends ClientOptions, FetchOptions {
  /** Members of one name share the topics' partitions out between them. @default 'default' */
  readonly group?: string | undefined
  /** What to read: names, or topics with their types. */
  readonly topics: readonly T[]
  /**
   * Where to begin in a partition for which the group has committed nothing. A group that has committed is never moved by it. Partitions
   * that are added to a topic later begin at their beginning. @default 'end'
   */
  readonly from?: StartPosition | undefined
  /** Only 'classic' yet: 'consumer' (KIP-848) and 'auto' are refused with NOT_SUPPORTED. @default 'classic' */
  readonly protocol?: 'classic' | undefined
  /**
   * How partitions are shared out, best first; the group uses the first that all members have. With cooperative-sticky alone members keep
   * reading during a rebalance what they keep (KIP-429). @default ['range', 'cooperative-sticky']
   */
  readonly assignors?: readonly AssignorName[] | undefined
  /** A name that this member keeps over restarts: within the session timeout it gets its partitions back without a rebalance (KIP-345), and close() does not leave the group. */
  readonly instanceId?: string | undefined
  /** Milliseconds after which a member that is not heard of is taken for dead. @default 45000 */
  readonly sessionTimeoutMs?: number | undefined
  /** Milliseconds between heartbeats. @default 3000 */
  readonly heartbeatMs?: number | undefined
  /** Milliseconds a handler may have its record: after that the member leaves the group, visibly. Also how long a rebalance waits for it. @default 300000 */
  readonly maxProcessingMs?: number | undefined
  /** Commit what is done every so many milliseconds, before partitions are given up, and on close; or only by commit(). @default { intervalMs: 5000 } */
  readonly commit?: CommitPolicy | undefined
}

const dayMs = 86_400_000

export type CommitPolicy = { readonly intervalMs: number } | 'manual'

const commitPolicy: Check<CommitPolicy> = (value, fail) => {
  if (value === 'manual') return value
  const intervalMs = typeof value === 'object' && value !== null && 'intervalMs' in value ? value.intervalMs : undefined
  const isAlone = typeof value === 'object' && value !== null && Object.keys(value).length === 1
  if (isAlone && Number.isSafeInteger(intervalMs) && (intervalMs as number) > 0)
    return { intervalMs: intervalMs as number }
  return fail("'manual' or { intervalMs: an integer above 0 }")
}

const knownAssignors: Check<readonly Assignor[]> = (value, fail) => {
  const names = arrayOf(oneOf(...assignors.keys()), { min: 1 })(value, fail)
  if (new Set(names).size !== names.length) return fail('an array without repetition')
  return names.map((name) => assignors.get(name) as Assignor)
}

const protocol: Check<'classic'> = (value, fail) => {
  if (value === 'classic') return value
  if (value === 'consumer' || value === 'auto') {
    throw new UsageError(`GroupMember: protocol '${value}' is not supported yet; use 'classic'`, 'NOT_SUPPORTED')
  }
  return fail("'classic'")
}

const specs = {
  ...clientOptions,
  ...fetchOptions,
  group: option(nonEmptyString, 'default'),
  topics: required(topicsCheck),
  from: option(startPosition, 'end'),
  protocol: option(protocol, 'classic'),
  assignors: option(knownAssignors, () => [range, cooperativeSticky]),
  instanceId: optional(nonEmptyString),
  sessionTimeoutMs: option(integer(1, dayMs), 45_000),
  heartbeatMs: option(integer(1, dayMs), 3000),
  maxProcessingMs: option(integer(1, 2 ** 31 - 1), 300_000),
  commit: option<CommitPolicy>(commitPolicy, () => ({ intervalMs: 5000 })),
}

export type GroupMemberConfig = Resolved<typeof specs>

export function groupMemberConfig(given: unknown): GroupMemberConfig {
  const config = resolveOptions('GroupMember', given, specs)
  if (config.heartbeatMs >= config.sessionTimeoutMs) {
    const { heartbeatMs, sessionTimeoutMs } = config
    const message = `GroupMember: heartbeatMs must be below sessionTimeoutMs (${sessionTimeoutMs}), got ${heartbeatMs}`
    throw new UsageError(message, 'INVALID_OPTION')
  }
  return config
}
