// The options of an Admin and of its calls, checked once each.
import {
  integer,
  optional,
  option,
  resolveOptions,
  type Check,
  type Option,
  type Resolved,
} from '../../util/options.js'
import type { WaitOptions } from '../../util/deadline.js'
import { clientOptions, type ClientConfig, type ClientOptions } from '../cluster/index.js'

const dayMs = 86_400_000

export interface AdminOptions extends ClientOptions {
  /** Milliseconds that a call may take, all retries included, unless the call itself says otherwise. @default 60000 */
  readonly timeoutMs?: number | undefined
}

export interface AdminConfig extends ClientConfig {
  readonly timeoutMs: number
}

export function adminConfig(given: unknown): AdminConfig {
  const config = resolveOptions('Admin', given, {
    ...clientOptions,
    timeoutMs: option(integer(1, dayMs), 60_000),
  })
  // Looking at a topic must never create it.
  return { ...config, allowAutoTopicCreation: false }
}

const abortSignal: Check<AbortSignal> = (value, fail) =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
    ? (value as AbortSignal)
    : fail('an AbortSignal')

const waitOptions = {
  signal: optional(abortSignal),
  timeoutMs: optional(integer(0, 2 ** 31 - 1)),
}

/** The options of one call: those every call has, and its own. */
export function callOptions<Specs extends Record<string, Option<unknown>>>(
  call: string,
  given: unknown,
  own: Specs,
): Resolved<Specs> & WaitOptions {
  return resolveOptions(`Admin.${call}`, given, { ...waitOptions, ...own }) as Resolved<Specs> & WaitOptions
}
