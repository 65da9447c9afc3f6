// Faults as users declare them, and which of them strike a request. What they then do is apply.ts's.
import { UsageError } from '../../errors.js'
import { errorByName, type ErrorName } from '../../protocol/messages/error-table.js'
import { apis, type ApiName } from '../../protocol/messages/registry.js'
import {
  boolean,
  integer,
  nonEmptyString,
  oneOf,
  option,
  optional,
  required,
  resolveOptions,
  type Resolved,
} from '../../util/options.js'
import { shapes } from './shapes.js'

export interface FaultSpec {
  /** Requests of this API. */
  readonly api: ApiName
  /** Only requests about this topic, of an API whose requests name topics; an error then stands at this topic alone. */
  readonly topic?: string | undefined
  /** Only this partition of `topic`. */
  readonly partition?: number | undefined
  /** Only requests to this broker. */
  readonly broker?: number | undefined
  /** Only requests with this client id. */
  readonly client?: string | undefined
  /** How many requests it strikes. @default all */
  readonly times?: number | undefined
  /** How many matching requests go by before the first is struck. @default 0 */
  readonly after?: number | undefined

  /** Answers with this error, at the place where the API has it: partition, topic or the whole. Nothing is processed unless `afterProcessing`. */
  readonly error?: ErrorName | undefined
  /** Processes the request before it is answered with `error`. @default false */
  readonly afterProcessing?: boolean | undefined
  /** Holds the answer of the processed request back, by the broker's clock; later requests on the connection wait too. */
  readonly delayMs?: number | undefined
  /** Processes the request, but neither it nor any later one on the connection is ever answered. */
  readonly drop?: boolean | undefined
  /** Closes the connection: `before` (or true) without processing, `after` instead of the answer. */
  readonly disconnect?: boolean | 'before' | 'after' | undefined
  /** Of Fetch: flips bytes in the records of the answer. */
  readonly corrupt?: boolean | undefined
  /** Answers at once with this throttle time, then reads nothing from the connection for as long (KIP-219). */
  readonly throttleMs?: number | undefined
}

export interface Fault {
  /** How many requests it has struck. */
  readonly hits: number
  /** Ends it. */
  remove(): void
}

const apiNames = Object.keys(apis) as ApiName[]

const specs = {
  api: required(oneOf(...apiNames)),
  topic: optional(nonEmptyString),
  partition: optional(integer(0, 2 ** 31 - 1)),
  broker: optional(integer(0, 2 ** 31 - 1)),
  client: optional<string>((value, fail) => (typeof value === 'string' ? value : fail('a string'))),
  times: option(integer(1, Number.MAX_SAFE_INTEGER), Infinity),
  after: option(integer(0, Number.MAX_SAFE_INTEGER), 0),
  error: optional<ErrorName>((value, fail) =>
    typeof value === 'string' && errorByName(value) && value !== 'NONE'
      ? (value as ErrorName)
      : fail("the name of one of Kafka's errors"),
  ),
  afterProcessing: option(boolean, false),
  delayMs: optional(integer(0, 2 ** 31 - 1)),
  drop: option(boolean, false),
  disconnect: optional<boolean | 'before' | 'after'>((value, fail) =>
    typeof value === 'boolean' || value === 'before' || value === 'after' ? value : fail("true, 'before' or 'after'"),
  ),
  corrupt: option(boolean, false),
  throttleMs: optional(integer(1, 2 ** 31 - 1)),
}

export type ResolvedFault = Resolved<typeof specs>

/** A topic, or a partition of it, that a request is about. */
export interface Target {
  readonly topic: string
  readonly partition: number | undefined
}

export interface Asked {
  readonly api: string
  readonly broker: number
  readonly client: string | null
  /** Of the request, when an added fault looks at topics. */
  readonly targets: () => readonly Target[]
}

export class Rule implements Fault {
  readonly spec: ResolvedFault
  hits = 0
  #seen = 0
  readonly #remove: (rule: Rule) => void

  constructor(spec: FaultSpec, remove: (rule: Rule) => void) {
    this.spec = resolved(spec)
    this.#remove = remove
  }

  /** Counts a request that matches; whether the fault is due at it. */
  sees({ broker, client, targets }: Asked): boolean {
    const { spec } = this
    if (spec.broker !== undefined && spec.broker !== broker) return false
    if (spec.client !== undefined && spec.client !== client) return false
    if (spec.topic !== undefined && !targets().some((target) => this.covers(target))) return false
    this.#seen++
    return this.#seen > spec.after && this.hits < spec.times
  }

  /** Whether the fault's topic and partition, where they are given, are these. A target without partition is a whole topic. */
  covers({ topic, partition }: Target): boolean {
    const { spec } = this
    if (spec.topic === undefined) return true
    if (spec.topic !== topic) return false
    return spec.partition === undefined || partition === undefined || spec.partition === partition
  }

  remove(): void {
    this.#remove(this)
  }
}

function resolved(spec: FaultSpec): ResolvedFault {
  const fault = resolveOptions('faults.add', spec, specs)
  const invalid = (message: string) => new UsageError(`faults.add: ${message}`, 'INVALID_OPTION')
  const { error, delayMs, drop, disconnect, corrupt, throttleMs } = fault
  if (!error && delayMs === undefined && !drop && !disconnect && !corrupt && throttleMs === undefined) {
    throw invalid('one of error, delayMs, drop, disconnect, corrupt and throttleMs is required')
  }
  if (fault.partition !== undefined && fault.topic === undefined) throw invalid('partition needs a topic')
  if (fault.topic !== undefined && fault.api !== 'Fetch' && !shapes[fault.api].request) {
    throw invalid(`a ${fault.api} request names no topics, so topic would never match`)
  }
  if (fault.afterProcessing && !error) throw invalid('afterProcessing needs an error')
  if (corrupt && fault.api !== 'Fetch') throw invalid('corrupt is for Fetch only')
  return fault
}

/** The faults of a cluster, in the order in which they were added. */
export class Faults {
  readonly #rules = new Map<string, Rule[]>()

  /**
   * Adds a fault; of several that would do the same to one request, the first one added strikes.
   * @throws {UsageError} INVALID_OPTION
   * @example
   * const fault = kafka.faults.add({ api: 'Produce', topic: 'orders', times: 1, error: 'NOT_LEADER_OR_FOLLOWER' })
   */
  add(spec: FaultSpec): Fault {
    const rule = new Rule(spec, (removed) => {
      const left = (this.#rules.get(spec.api) ?? []).filter((other) => other !== removed)
      if (left.length > 0) this.#rules.set(spec.api, left)
      else this.#rules.delete(spec.api)
    })
    this.#rules.set(spec.api, [...(this.#rules.get(spec.api) ?? []), rule])
    return rule
  }

  /** Removes all. */
  clear(): void {
    this.#rules.clear()
  }

  /** What strikes a request; undefined (the usual case) for nothing. @internal */
  strike(asked: Asked): Strike | undefined {
    const rules = this.#rules.get(asked.api)
    if (!rules) return undefined
    const due = rules.filter((rule) => rule.sees(asked))
    return due.length > 0 ? chosen(due, asked) : undefined
  }
}

/** All that happens to one request. */
export interface Strike {
  /** Errors, each with what it covers. */
  readonly errors: readonly Rule[]
  readonly delayMs: number | undefined
  readonly drop: boolean
  readonly disconnect: 'before' | 'after' | undefined
  readonly corrupt: Rule | undefined
  readonly throttleMs: number | undefined
}

function chosen(due: readonly Rule[], asked: Asked): Strike {
  const errors: Rule[] = []
  let free: readonly Target[] | undefined
  const first = (kind: (spec: ResolvedFault) => unknown): Rule | undefined => {
    const rule = due.find(({ spec }) => kind(spec))
    if (rule) struck.add(rule)
    return rule
  }
  const struck = new Set<Rule>()
  for (const rule of due) {
    if (!rule.spec.error) continue
    if (rule.spec.topic === undefined) {
      // Of the whole request: only when no other error is there already.
      if (errors.length > 0) continue
      errors.push(rule)
      struck.add(rule)
      break
    }
    free ??= asked.targets()
    if (!free.some((target) => rule.covers(target))) continue
    free = free.filter((target) => !rule.covers(target))
    errors.push(rule)
    struck.add(rule)
  }
  const disconnect = first((spec) => spec.disconnect)?.spec.disconnect
  const strike = {
    errors,
    delayMs: first((spec) => spec.delayMs !== undefined)?.spec.delayMs,
    drop: first((spec) => spec.drop) !== undefined,
    disconnect: disconnect === 'after' ? disconnect : disconnect ? ('before' as const) : undefined,
    corrupt: first((spec) => spec.corrupt),
    throttleMs: first((spec) => spec.throttleMs !== undefined)?.spec.throttleMs,
  }
  for (const rule of struck) rule.hits++
  return strike
}
