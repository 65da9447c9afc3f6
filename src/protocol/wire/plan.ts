// Compiles declared fields for one version into straight reading and writing. Reading stores every field in declaration
// order, so that all values of a message have one shape; an absent field takes a fresh default.
import { KafkaError } from '../../errors.js'
import type { AnyField, Fields, FieldSpec } from './field.js'
import { malformed, type Reader } from './reader.js'
import { includes } from './versions.js'
import { zeroUuid } from './uuid.js'
import { Writer } from './writer.js'

type Struct = Record<string, unknown>

export interface Codec {
  read(reader: Reader): unknown
  write(writer: Writer, value: unknown): void
}

interface Step {
  readonly name: string
  readonly codec: Codec
  readonly field: AnyField
}

/** What a plan is compiled for, and the name that its errors begin with. */
interface Target {
  readonly where: string
  readonly version: number
  readonly flexible: boolean
}

export function compileStruct(fields: Fields, target: Target): Codec {
  const plain: Step[] = []
  const tagged: Step[] = []
  const absent: Step[] = []
  const all = Object.entries(fields).map(([name, field]) => {
    const { spec } = field
    const isPresent = includes(spec.versions, target.version)
    const isTagged = isPresent && spec.tag !== undefined && includes(spec.tagged, target.version)
    const where = `${target.where}.${name}`
    const step = { name, field, codec: isPresent ? compileField(spec, { ...target, where }) : missing }
    if (!isPresent) absent.push(step)
    else if (isTagged) tagged.push(step)
    else plain.push(step)
    return { ...step, isPlain: isPresent && !isTagged }
  })
  tagged.sort((a, b) => (a.field.spec.tag as number) - (b.field.spec.tag as number))
  const byTag = new Map(tagged.map((step) => [step.field.spec.tag as number, step]))
  const refused = absent.filter((step) => !step.field.spec.ignorable)

  return {
    read(reader) {
      const struct: Struct = {}
      for (let i = 0; i < all.length; i++) {
        const step = all[i] as (typeof all)[number]
        struct[step.name] = step.isPlain ? step.codec.read(reader) : defaultOf(step.field.spec)
      }
      if (target.flexible) readTags(reader, byTag, struct)
      return struct
    },
    write(writer, value) {
      const struct = value as Struct
      for (const { name, field } of refused) {
        if (!isDefault(field.spec, struct[name])) throw unsupported(target, name)
      }
      for (let i = 0; i < plain.length; i++) {
        const step = plain[i] as Step
        const given = struct[step.name]
        step.codec.write(writer, given === undefined ? defaultOf(step.field.spec) : given)
      }
      if (target.flexible) writeTags(writer, tagged, struct)
    },
  }
}

const missing: Codec = {
  read: () => undefined,
  write: () => undefined,
}

function unsupported({ where, version }: Target, name: string): KafkaError {
  return new KafkaError(`${where} v${version} cannot carry ${name}; the broker is too old for it`, {
    code: 'UNSUPPORTED_VERSION',
  })
}

function readTags(reader: Reader, byTag: Map<number, Step>, struct: Struct): void {
  for (let left = reader.uvarint(); left > 0; left--) {
    const tag = reader.uvarint()
    const size = reader.uvarint()
    if (size > reader.remaining) throw malformed(`tagged field ${tag} claims ${size} bytes of ${reader.remaining}`)
    const step = byTag.get(tag)
    const next = reader.position + size
    if (step) struct[step.name] = step.codec.read(reader)
    else reader.skip(size)
    if (reader.position !== next) throw malformed(`tagged field ${tag} is not the ${size} bytes that it claims`)
  }
}

function writeTags(writer: Writer, tagged: readonly Step[], struct: Struct): void {
  const set = tagged.filter(({ name, field }) => !isDefault(field.spec, struct[name]))
  writer.uvarint(set.length)
  for (const { name, field, codec } of set) {
    const inner = new Writer(64)
    codec.write(inner, struct[name])
    writer.uvarint(field.spec.tag as number)
    writer.uvarint(inner.length)
    for (const chunk of inner.finish()) writer.bytes(chunk)
  }
}

// ---- defaults

function defaultOf(spec: FieldSpec): unknown {
  if (spec.default !== undefined) return spec.default
  switch (spec.kind) {
    case 'bool':
      return false
    case 'string':
      return ''
    case 'uuid':
      return zeroUuid
    case 'bytes':
    case 'records':
      return Buffer.alloc(0)
    case 'array':
      return []
    case 'struct': {
      const struct: Struct = {}
      for (const [name, field] of Object.entries(spec.fields as Fields)) struct[name] = defaultOf(field.spec)
      return struct
    }
    default:
      return 0
  }
}

function isDefault(spec: FieldSpec, value: unknown): boolean {
  if (value === undefined) return true
  if (spec.default !== undefined || value === null) return value === spec.default
  switch (spec.kind) {
    case 'bytes':
    case 'records':
    case 'array':
      return (value as ArrayLike<unknown>).length === 0
    case 'struct':
      return Object.entries(spec.fields as Fields).every(([name, field]) =>
        isDefault(field.spec, (value as Struct)[name]),
      )
    default:
      return value === defaultOf(spec)
  }
}

// ---- one field

function compileField(spec: FieldSpec, target: Target): Codec {
  const isNullable = includes(spec.nullable, target.version)
  const codec = compileKind(spec, target, isNullable)
  if (isNullable) return codec
  return {
    read: (reader) => codec.read(reader),
    write(writer, value) {
      if (value === null) {
        const message = `${target.where} must not be null in version ${target.version}`
        throw new KafkaError(message, { code: 'UNSUPPORTED_VERSION' })
      }
      codec.write(writer, value)
    },
  }
}

function compileKind(spec: FieldSpec, target: Target, isNullable: boolean): Codec {
  switch (spec.kind) {
    case 'bool':
      return { read: (r) => r.bool(), write: (w, value) => w.bool(value as boolean) }
    case 'int8':
      return { read: (r) => r.int8(), write: (w, value) => w.int8(value as number) }
    case 'int16':
      return { read: (r) => r.int16(), write: (w, value) => w.int16(value as number) }
    case 'uint16':
      return { read: (r) => r.uint16(), write: (w, value) => w.uint16(value as number) }
    case 'int32':
      return { read: (r) => r.int32(), write: (w, value) => w.int32(value as number) }
    case 'int64':
      return { read: (r) => r.int64(), write: (w, value) => w.int64(value as number) }
    case 'float64':
      return { read: (r) => r.float64(), write: (w, value) => w.float64(value as number) }
    case 'uuid':
      return { read: (r) => r.uuid(), write: (w, value) => w.uuid(value as string) }
    case 'string':
      return stringCodec(target, isNullable)
    case 'bytes':
    case 'records':
      return bytesCodec(target, isNullable, spec.kind === 'records')
    case 'array':
      return arrayCodec(spec.element as AnyField, target, isNullable)
    case 'struct':
      return structCodec(spec.fields as Fields, target, isNullable)
  }
}

interface LengthCodec {
  /** -1 for null, which is refused where the field is not nullable. */
  read(reader: Reader): number
  write(writer: Writer, length: number): void
}

function lengthCodec({ where, flexible }: Target, isNullable: boolean, width: 2 | 4): LengthCodec {
  const read = flexible
    ? (reader: Reader) => reader.uvarint() - 1
    : width === 2
      ? (reader: Reader) => reader.int16()
      : (reader: Reader) => reader.int32()
  return {
    read(reader) {
      const length = read(reader)
      if (length > reader.remaining) throw malformed(`${where} claims length ${length} of ${reader.remaining} bytes`)
      if (length < (isNullable ? -1 : 0)) throw malformed(`${where} has length ${length}`)
      return length
    },
    write: flexible
      ? (writer, length) => writer.uvarint(length + 1)
      : width === 2
        ? (writer, length) => writer.int16(length)
        : (writer, length) => writer.int32(length),
  }
}

const LONGEST_STRING = 0x7fff

function stringCodec(target: Target, isNullable: boolean): Codec {
  const lengths = lengthCodec(target, isNullable, 2)
  return {
    read(reader) {
      const length = lengths.read(reader)
      return length < 0 ? null : reader.utf8(length)
    },
    write(writer, value) {
      if (value === null) {
        lengths.write(writer, -1)
        return
      }
      const byteLength = Buffer.byteLength(value as string)
      if (byteLength > LONGEST_STRING) {
        const message = `${target.where} takes at most ${LONGEST_STRING} bytes, got ${byteLength}`
        throw new KafkaError(message, { code: 'INVALID_ARGUMENT' })
      }
      lengths.write(writer, byteLength)
      writer.utf8(value as string, byteLength)
    },
  }
}

function bytesCodec(target: Target, isNullable: boolean, areRecords: boolean): Codec {
  const lengths = lengthCodec(target, isNullable, 4)
  return {
    read(reader) {
      const length = lengths.read(reader)
      return length < 0 ? null : reader.view(length)
    },
    write(writer, value) {
      if (value === null) {
        lengths.write(writer, -1)
      } else if (Array.isArray(value)) {
        const chunks = value as readonly Uint8Array[]
        lengths.write(
          writer,
          chunks.reduce((sum, chunk) => sum + chunk.length, 0),
        )
        for (const chunk of chunks) writer.chunk(chunk)
      } else {
        const whole = value as Uint8Array
        lengths.write(writer, whole.length)
        if (areRecords && whole.length > 0) writer.chunk(whole)
        else writer.bytes(whole)
      }
    },
  }
}

function arrayCodec(element: AnyField, target: Target, isNullable: boolean): Codec {
  const lengths = lengthCodec(target, isNullable, 4)
  const item = compileField(element.spec, target)
  return {
    read(reader) {
      const length = lengths.read(reader)
      if (length < 0) return null
      const items: unknown[] = []
      for (let i = 0; i < length; i++) items.push(item.read(reader))
      return items
    },
    write(writer, value) {
      if (value === null) {
        lengths.write(writer, -1)
        return
      }
      const items = value as readonly unknown[]
      lengths.write(writer, items.length)
      for (let i = 0; i < items.length; i++) item.write(writer, items[i])
    },
  }
}

function structCodec(fields: Fields, target: Target, isNullable: boolean): Codec {
  const codec = compileStruct(fields, target)
  if (!isNullable) return codec
  return {
    read: (reader) => (reader.int8() < 0 ? null : codec.read(reader)),
    write(writer, value) {
      writer.int8(value === null ? -1 : 1)
      if (value !== null) codec.write(writer, value)
    },
  }
}
