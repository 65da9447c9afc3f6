// Where a client's log goes: the user's own logger, or the console from a level on.
import type { Check } from '../../util/options.js'

/** What a logger must have; console, pino and winston all do. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof levels)[number]

const nowhere = () => {}

/** Writes to the console, to stderr alone, what is at least as grave as `level`. */
export function consoleLogger(level: LogLevel): Logger {
  const at = (own: LogLevel) =>
    levels.indexOf(own) < levels.indexOf(level)
      ? nowhere
      : (message: string, fields?: Readonly<Record<string, unknown>>) => {
          // eslint-disable-next-line no-console -- the one place that writes to it
          console.error(`ottla ${own}: ${message}`, ...(fields === undefined ? [] : [fields]))
        }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export const loggerCheck: Check<Logger> = (value, fail) => {
  if (typeof value === 'string' && (levels as readonly string[]).includes(value))
    return consoleLogger(value as LogLevel)
  const isLogger =
    typeof value === 'object' &&
    value !== null &&
    ['debug', 'info', 'warn', 'error'].every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  return isLogger
    ? (value as Logger)
    : fail(`one of ${levels.join(', ')}, or an object with the functions debug, info, warn and error`)
}
