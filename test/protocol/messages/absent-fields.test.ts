// What a version cannot carry is refused when it is set, unless the field is declared ignorable: then it is left out. As in Java.
import { describe, expect, test } from 'vitest'
import { KafkaError } from '../../../src/errors.js'
import { OffsetFetch } from '../../../src/protocol/messages/offset-fetch.js'
import { includes, type Fields } from '../../../src/protocol/wire/index.js'
import { decode, declaredMessages, encode, fixtures, versionsOf, type DeclaredMessage } from './wire-fixtures.js'

type Struct = Record<string, unknown>

interface AbsentField {
  readonly path: readonly string[]
  readonly isIgnorable: boolean
}

/** The fields that a version lacks, in structs that it has. */
function absentFields(fields: Fields, version: number, path: readonly string[] = []): AbsentField[] {
  return Object.entries(fields).flatMap(([name, { spec }]) => {
    const own = [...path, name]
    if (!includes(spec.versions, version)) return [{ path: own, isIgnorable: spec.ignorable }]
    const inner = spec.fields ?? spec.element?.spec.fields
    return inner ? absentFields(inner, version, own) : []
  })
}

/** The struct that holds the last field of a path, in the first element of each array on the way. */
function holderOf(message: unknown, path: readonly string[]): Struct {
  return path.slice(0, -1).reduce((struct, name) => {
    const next = struct[name]
    return (Array.isArray(next) ? next[0] : next) as Struct
  }, message as Struct)
}

function recorded({ name, of, message }: DeclaredMessage, version: number): Struct {
  const full = fixtures.get(name)!.find((f) => f.of === of && f.version === version && f.variant === 'full')!
  return decode(message, version, Buffer.from(full.bytes, 'base64')) as Struct
}

/** What the field holds in a version that has it, and that is not its default. */
function someValue(declared: DeclaredMessage, path: readonly string[], absent: unknown): unknown {
  if (typeof absent === 'boolean') return !absent
  const name = path.at(-1)!
  const isWithin = (field: AbsentField): boolean => `${path.join('.')}.`.startsWith(`${field.path.join('.')}.`)
  for (const version of versionsOf(declared.message)) {
    if (absentFields(declared.message.fields, version).some(isWithin)) continue
    const value = holderOf(recorded(declared, version), path)[name]
    if (JSON.stringify(value) !== JSON.stringify(absent)) return value
  }
  return undefined
}

const cases = declaredMessages.flatMap((declared) =>
  versionsOf(declared.message).flatMap((version) =>
    absentFields(declared.message.fields, version).map(({ path, isIgnorable }) => ({
      ...declared,
      version,
      path,
      field: path.join('.'),
      isIgnorable,
    })),
  ),
)

describe.each(['left out', 'refused'] as const)('a field that the version lacks is %s', (outcome) => {
  const mine = cases.filter(({ isIgnorable }) => isIgnorable === (outcome === 'left out'))

  test.each(mine)('$name $of version $version: $field', (declared) => {
    const { message, version, path } = declared
    const value = recorded(declared, version)
    const without = encode(message, version, value)
    const holder = holderOf(value, path)
    const set = someValue(declared, path, holder[path.at(-1)!])
    expect(set, 'no version has a value for it').toBeDefined()
    holder[path.at(-1)!] = set

    if (outcome === 'left out') {
      expect(encode(message, version, value).equals(without)).toBe(true)
    } else {
      expect(() => encode(message, version, value)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_VERSION' }))
    }
  })
})

test('null where the version does not allow it is refused', () => {
  const groups = { groupId: 'billing', topics: null }
  expect(() => encode(OffsetFetch.request as never, 1, groups)).toThrow(KafkaError)
  expect(encode(OffsetFetch.request as never, 2, groups)).toEqual(
    Buffer.from([0, 7, ...Buffer.from('billing'), 0xff, 0xff, 0xff, 0xff]),
  )
})
