// What a config is: its type, default and allowed values, and how its text is read. Kafka's configs are texts; the tables beside
// this file say which there are.

export type ConfigType = 'boolean' | 'string' | 'int' | 'short' | 'long' | 'double' | 'list' | 'class' | 'password'

export type ConfigValue = boolean | number | string | readonly string[] | null

export interface ConfigDefinition {
  readonly name: string
  readonly type: ConfigType
  /** As text; null is "not set". */
  readonly default: string | null
  /** Says what is allowed when the value is not. */
  readonly check?: ((value: ConfigValue) => string | undefined) | undefined
  readonly documentation: string
  /** Of a topic config: the broker configs that give its default, the first one set; each times its factor. */
  readonly brokerSynonyms?: readonly { readonly name: string; readonly factor: number }[] | undefined
  /** Of a broker config: it cannot be changed while the broker runs. */
  readonly readOnly?: boolean | undefined
}

const ranges = {
  int: [-(2 ** 31), 2 ** 31 - 1],
  short: [-(2 ** 15), 2 ** 15 - 1],
  long: [-Infinity, Infinity],
} as const

export class InvalidConfig extends Error {}

/** The value of a text. Throws InvalidConfig with a message for the client. */
export function parseConfig(definition: ConfigDefinition, text: string | null): ConfigValue {
  const { name, type } = definition
  const fail = (why: string): never => {
    throw new InvalidConfig(`Invalid value ${text} for configuration ${name}: ${why}`)
  }
  const value = text === null ? null : parse(type, text.trim(), fail)
  const allowed = value === null ? undefined : definition.check?.(value)
  if (allowed !== undefined) fail(allowed)
  return value
}

function parse(type: ConfigType, text: string, fail: (why: string) => never): ConfigValue {
  switch (type) {
    case 'boolean':
      if (/^true$/i.test(text)) return true
      return /^false$/i.test(text) ? false : fail('Expected value to be either true or false')
    case 'int':
    case 'short':
    case 'long': {
      const [min, max] = ranges[type]
      const number = Number(text)
      if (!/^[+-]?\d+$/.test(text) || number < min || number > max)
        return fail(`Not a number of type ${type.toUpperCase()}`)
      return number
    }
    case 'double': {
      const number = Number(text)
      return text === '' || Number.isNaN(number) ? fail('Not a number of type DOUBLE') : number
    }
    case 'list':
      return text === '' ? [] : [...new Set(text.split(',').map((item) => item.trim()))]
    case 'string':
    case 'class':
    case 'password':
      return text
  }
}

// ---- checks

export function atLeast(min: number) {
  return (value: ConfigValue) => (Number(value) >= min ? undefined : `Value must be at least ${min}`)
}

export function between(min: number, max: number) {
  return (value: ConfigValue) => {
    if (Number(value) < min) return `Value must be at least ${min}`
    return Number(value) <= max ? undefined : `Value must be no more than ${max}`
  }
}

export function oneOf(...allowed: readonly string[]) {
  return (value: ConfigValue) =>
    allowed.includes(String(value)) ? undefined : `String must be one of: ${allowed.join(', ')}`
}

export function listOf(...allowed: readonly string[]) {
  return (value: ConfigValue) => {
    const items = value as readonly string[]
    return items.every((item) => allowed.includes(item)) ? undefined : `String must be one of: ${allowed.join(', ')}`
  }
}
