// Compares a declared message with Kafka's JSON definition of it, field by field. Versions are compared as far as they can be seen:
// what a definition says of versions that are no longer valid, or that an enclosing struct lacks, has no meaning.
import {
  everyVersion,
  int64Max,
  parseVersions,
  zeroUuid,
  type AnyField,
  type Fields,
  type FieldSpec,
  type Message,
  type Versions,
} from '../../src/protocol/wire/index.js'

export interface JsonField {
  readonly name: string
  /** `int32`, `string`, `[]int32`, `[]Topic`, `Cursor`. */
  readonly type: string
  readonly versions: string
  readonly nullableVersions?: string
  readonly default?: string | number | boolean
  readonly tag?: number
  readonly taggedVersions?: string
  readonly ignorable?: boolean
  readonly flexibleVersions?: string
  readonly fields?: readonly JsonField[]
}

export interface JsonMessage {
  readonly apiKey?: number
  readonly type: 'request' | 'response' | 'header' | 'data' | (string & {})
  readonly listeners?: readonly string[]
  readonly name: string
  readonly validVersions: string
  readonly flexibleVersions?: string
  readonly latestVersionUnstable?: boolean
  readonly fields: readonly JsonField[]
  readonly commonStructs?: readonly { readonly name: string; readonly fields: readonly JsonField[] }[]
}

/** How ours differs; empty when it does not. */
export function differences(ours: Message<Fields>, kafkas: JsonMessage): string[] {
  const found: string[] = []
  const valid = parseVersions(kafkas.validVersions)
  const compare = (where: string, what: string, own: unknown, theirs: unknown): void => {
    const [a, b] = [show(own), show(theirs)]
    if (a !== b) found.push(`${where}: ${what} is ${a}, Kafka's is ${b}`)
  }

  compare(ours.name, 'versions', ours.versions, valid)
  compare(
    ours.name,
    'flexible versions',
    both(ours.flexible, valid),
    both(parseVersions(kafkas.flexibleVersions ?? 'none'), valid),
  )
  compareStruct(ours.name, ours.fields, kafkas.fields, valid)
  return found

  function compareStruct(where: string, fields: Fields, definitions: readonly JsonField[], within: Versions): void {
    const known = definitions.filter((definition) => !isEmpty(both(parseVersions(definition.versions), within)))
    compare(
      where,
      'list of fields',
      Object.keys(fields),
      known.map(({ name }) => lowerFirst(name)),
    )
    for (const definition of known) {
      const name = lowerFirst(definition.name)
      const field = fields[name]
      if (field) compareField(`${where}.${name}`, field.spec, definition, within)
    }
  }

  function compareField(where: string, spec: FieldSpec, definition: JsonField, within: Versions): void {
    const theirs = both(parseVersions(definition.versions), within)
    compare(where, 'versions', both(spec.versions, within), theirs)
    compare(where, 'type', typeOf(spec), jsonTypeOf(definition.type))
    compare(
      where,
      'nullable',
      both(spec.nullable, theirs),
      both(parseVersions(definition.nullableVersions ?? 'none'), theirs),
    )
    compare(where, 'default', defaultOf(spec), jsonDefaultOf(definition))
    compare(where, 'tag', spec.tag, definition.tag)
    compare(
      where,
      'tagged versions',
      both(spec.tagged, theirs),
      both(parseVersions(definition.taggedVersions ?? 'none'), theirs),
    )
    compare(where, 'ignorable', spec.ignorable, definition.ignorable ?? false)
    compare(where, 'flexible versions of its own', undefined, definition.flexibleVersions)
    const fields = spec.fields ?? spec.element?.spec.fields
    const definitions = fieldsOf(definition)
    if (fields && definitions) compareStruct(where, fields, definitions, theirs)
    if (spec.element) comparePlainElement(where, spec.element)
  }

  // Modifiers belong to the array: what its elements are declared with would otherwise escape the comparison.
  function comparePlainElement(where: string, { spec }: AnyField): void {
    const { versions, nullable, default: value, tag, ignorable } = spec
    compare(where, "its elements' versions", versions, everyVersion)
    compare(
      where,
      'modifiers of its elements',
      [nullable, value, tag, ignorable],
      [parseVersions('none'), undefined, undefined, false],
    )
  }

  function fieldsOf({ type, fields }: JsonField): readonly JsonField[] | undefined {
    const name = type.replace('[]', '')
    return fields ?? kafkas.commonStructs?.find((struct) => struct.name === name)?.fields
  }
}

export function both(a: Versions, b: Versions): Versions {
  const versions = { min: Math.max(a.min, b.min), max: Math.min(a.max, b.max) }
  return isEmpty(versions) ? parseVersions('none') : versions
}

function isEmpty({ min, max }: Versions): boolean {
  return min > max
}

export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

function isVersions(value: unknown): value is Versions {
  return typeof value === 'object' && value !== null && 'min' in value && 'max' in value
}

export function show(value: unknown): string {
  if (Array.isArray(value)) return value.map(show).join(', ')
  if (!isVersions(value)) return value === undefined ? 'not given' : JSON.stringify(value)
  if (isEmpty(value)) return 'none'
  if (value.max === Infinity) return `${value.min}+`
  return value.min === value.max ? String(value.min) : `${value.min}-${value.max}`
}

function typeOf(spec: FieldSpec): string {
  return spec.element ? `[]${spec.element.spec.kind}` : spec.kind
}

const primitives = new Set([
  'bool',
  'int8',
  'int16',
  'uint16',
  'int32',
  'int64',
  'float64',
  'string',
  'bytes',
  'records',
  'uuid',
])

/** Structs have names in Kafka's definitions, which nobody can see on the wire. */
function jsonTypeOf(type: string): string {
  const name = type.replace('[]', '')
  return `${type === name ? '' : '[]'}${primitives.has(name) || !/^[A-Z]/.test(name) ? name : 'struct'}`
}

const defaults: Readonly<Record<string, unknown>> = { bool: false, string: '', uuid: zeroUuid, bytes: '', records: '' }

function kindDefault(type: string): unknown {
  if (type.startsWith('[]')) return []
  return type === 'struct' ? {} : (defaults[type] ?? 0)
}

function defaultOf(spec: FieldSpec): unknown {
  return spec.default === undefined ? kindDefault(typeOf(spec)) : spec.default
}

function jsonDefaultOf({ type, default: value }: JsonField): unknown {
  const known = jsonTypeOf(type)
  if (value === undefined) return kindDefault(known)
  if (value === 'null') return null
  if (typeof value !== 'string' || known === 'string' || known === 'uuid') return value
  if (known === 'bool') return value === 'true'
  return value === '9223372036854775807' ? int64Max : Number(value)
}
