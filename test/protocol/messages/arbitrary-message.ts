// Random values of declared messages, for one version: every field that the version has, with any value that it may hold.
import fc from 'fast-check'
import { includes, int64Max, type AnyField, type Fields } from '../../../src/protocol/wire/index.js'

type Struct = Record<string, unknown>

const blob = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes))

export function arbitraryMessage(fields: Fields, version: number): fc.Arbitrary<Struct> {
  const present = Object.entries(fields).filter(([, { spec }]) => includes(spec.versions, version))
  return fc.record(Object.fromEntries(present.map(([name, field]) => [name, arbitraryField(field, version)])), {
    noNullPrototype: true,
  })
}

function arbitraryField(field: AnyField, version: number): fc.Arbitrary<unknown> {
  const value = arbitraryValue(field, version)
  return includes(field.spec.nullable, version) ? fc.option(value, { freq: 4 }) : value
}

function arbitraryValue({ spec }: AnyField, version: number): fc.Arbitrary<unknown> {
  switch (spec.kind) {
    case 'bool':
      return fc.boolean()
    case 'int8':
      return fc.integer({ min: -128, max: 127 })
    case 'int16':
      return fc.integer({ min: -32768, max: 32767 })
    case 'uint16':
      return fc.integer({ min: 0, max: 65535 })
    case 'int32':
      return fc.integer()
    case 'int64':
      return fc.oneof({ weight: 9, arbitrary: fc.maxSafeInteger() }, fc.constant(int64Max))
    case 'float64':
      return fc.double()
    case 'string':
      return fc.string({ unit: 'binary', maxLength: 12 })
    case 'bytes':
    case 'records':
      return blob
    case 'uuid':
      return fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('base64url'))
    case 'array':
      return fc.array(arbitraryField(spec.element!, version), { maxLength: 3 })
    case 'struct':
      return arbitraryMessage(spec.fields!, version)
  }
}
