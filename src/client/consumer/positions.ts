// The words for places in a partition: where to start, where to stop, where to go on after an offset that is gone.
import type { Check } from '../../util/options.js'

/** A stretch of time before now: milliseconds, or a number with its unit as in '90s', '15m', '1h', '7d'. */
export interface Ago {
  readonly ago: number | string
}

/**
 * A place in a partition: its first or last record, an offset, the first record at or after a time, or the first of the last
 * hour (`{ ago: '1h' }`). A time after the last record is the end.
 */
export type StartPosition = 'beginning' | 'end' | number | Date | Ago

/** What to do when the log no longer (or not yet) holds the position. `nearest` is whichever end of the log is closer to it. */
export type OutOfRangePolicy = 'beginning' | 'end' | 'nearest' | 'error' | Ago

/** The offset of the next record, and the leader epoch of the record before it (-1: not known). */
export interface Position {
  readonly offset: number
  readonly leaderEpoch: number
}

const unitMs = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Milliseconds of `90_000`, `'90s'`, `'1.5h'`; undefined for anything else. */
export function parseAgoMs(ago: unknown): number | undefined {
  if (typeof ago === 'number') return Number.isFinite(ago) && ago >= 0 ? ago : undefined
  if (typeof ago !== 'string') return undefined
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(ago) ?? []
  return amount === undefined ? undefined : Number(amount) * unitMs.get(unit!)!
}

function isAgo(value: unknown): value is Ago {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'ago') return false
  return parseAgoMs((value as Ago).ago) !== undefined
}

const agoText = "{ ago: milliseconds, or '30s', '15m', '1h', '7d' }"

export function isStartPosition(value: unknown): value is StartPosition {
  if (value === 'beginning' || value === 'end' || isAgo(value)) return true
  if (value instanceof Date) return Number.isFinite(value.getTime())
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** What `isStartPosition` accepts, in words. */
export const startPositionText = `'beginning', 'end', an offset of 0 or more, a valid Date, or ${agoText}`

export const startPosition: Check<StartPosition> = (value, fail) =>
  isStartPosition(value) ? value : fail(startPositionText)

export const outOfRangePolicy: Check<OutOfRangePolicy> = (value, fail) =>
  value === 'beginning' || value === 'end' || value === 'nearest' || value === 'error' || isAgo(value)
    ? value
    : fail(`'beginning', 'end', 'nearest', 'error' or ${agoText}`)
