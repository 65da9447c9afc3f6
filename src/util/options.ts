// Validation of public options: every option is named once, with its check and default, and resolved to a config without optionals.
import { UsageError } from '../errors.js'

/** Returns the checked value, or throws through `fail` with what is allowed. */
export type Check<T> = (value: unknown, fail: (allowed: string) => never) => T

/** One option: how it is checked and what it is when left out. */
export interface Option<T> {
  readonly check: Check<T>
  readonly fallback: () => T
  readonly isRequired: boolean
}

export type Resolved<Specs> = { readonly [Name in keyof Specs]: Specs[Name] extends Option<infer T> ? T : never }

export function option<T>(check: Check<T>, fallback: NoInfer<T> | (() => NoInfer<T>)): Option<T> {
  return { check, fallback: typeof fallback === 'function' ? (fallback as () => T) : () => fallback, isRequired: false }
}

export function required<T>(check: Check<T>): Option<T> {
  return {
    check,
    fallback: () => {
      throw new UsageError('a required option has no fallback', 'INVALID_OPTION')
    },
    isRequired: true,
  }
}

/** Leaves an option that was not given undefined. */
export function optional<T>(check: Check<T>): Option<T | undefined> {
  return option<T | undefined>(check, undefined)
}

/**
 * Checks what the caller gave against the specs; never changes it.
 * Throws UsageError (INVALID_OPTION): `Producer: lingerMs must be an integer of 0-60000, got "5"`.
 */
export function resolveOptions<Specs extends Record<string, Option<unknown>>>(
  owner: string,
  given: unknown,
  specs: Specs,
): Resolved<Specs> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new UsageError(`${owner}: options must be an object, got ${shown(given)}`, 'INVALID_OPTION')
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(specs, name)) {
      const known = Object.keys(specs).sort().join(', ')
      throw new UsageError(`${owner}: unknown option ${name}; known are ${known}`, 'INVALID_OPTION')
    }
  }
  const resolved: Record<string, unknown> = {}
  for (const [name, spec] of Object.entries(specs)) {
    const value = (given as Record<string, unknown>)[name]
    if (value === undefined) {
      if (spec.isRequired) throw new UsageError(`${owner}: ${name} is required`, 'INVALID_OPTION')
      resolved[name] = spec.fallback()
    } else {
      resolved[name] = spec.check(value, (allowed) => {
        throw new UsageError(`${owner}: ${name} must be ${allowed}, got ${shown(value)}`, 'INVALID_OPTION')
      })
    }
  }
  return resolved as Resolved<Specs>
}

/** A value as an error message shows it: short, and its kind recognisable. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return `an object (${value.constructor?.name ?? 'no prototype'})`
  return String(value)
}

// ---- checks

export function integer(min: number, max: number): Check<number> {
  return (value, fail) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : fail(`an integer of ${min}-${max}`)
}

export const boolean: Check<boolean> = (value, fail) => (typeof value === 'boolean' ? value : fail('true or false'))

export const nonEmptyString: Check<string> = (value, fail) =>
  typeof value === 'string' && value !== '' ? value : fail('a string that is not empty')

export function oneOf<const T extends string | number>(...allowed: readonly T[]): Check<T> {
  return (value, fail) =>
    allowed.includes(value as T) ? (value as T) : fail(`one of ${allowed.map((one) => shown(one)).join(', ')}`)
}

export function arrayOf<T>(check: Check<T>, { min = 0 } = {}): Check<readonly T[]> {
  return (value, fail) => {
    if (!Array.isArray(value) || value.length < min) return fail(min > 0 ? `an array of at least ${min}` : 'an array')
    return value.map((item, i) => check(item, (allowed) => fail(`an array whose item ${i} is ${allowed}`)))
  }
}

export function functionOf<T>(signature: string): Check<T> {
  return (value, fail) => (typeof value === 'function' ? (value as T) : fail(`a function ${signature}`))
}
