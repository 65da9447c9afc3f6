// The vocabulary in which messages are declared: a Field says what stands on the wire in which versions. It does nothing by
// itself; plan.ts compiles fields for one version.
import { everyVersion, noVersion, parseVersions, type Versions } from './versions.js'

export type Kind =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'string'
  | 'bytes'
  | 'records'
  | 'uuid'
  | 'array'
  | 'struct'

export interface FieldSpec {
  readonly kind: Kind
  readonly versions: Versions
  readonly nullable: Versions
  /** undefined: the kind's own default (0, '', false, empty, a struct of defaults). */
  readonly default: unknown
  readonly tag: number | undefined
  readonly tagged: Versions
  readonly ignorable: boolean
  /** Of an array. */
  readonly element: AnyField | undefined
  /** Of a struct. */
  readonly fields: Fields | undefined
}

/** `Out` is what reading gives, `In` what writing takes, `CanOmit` whether it may be left out of what is written. */
export class Field<Out, In, CanOmit extends boolean> {
  declare readonly out: Out
  declare readonly in_: In
  declare readonly canOmit: CanOmit
  readonly spec: FieldSpec

  constructor(spec: FieldSpec) {
    this.spec = spec
  }

  #with<O, I, C extends boolean>(change: Partial<FieldSpec>): Field<O, I, C> {
    return new Field<O, I, C>({ ...this.spec, ...change })
  }

  /** The versions that have the field; elsewhere it reads as its default. */
  in(versions: string): Field<Out, In, true> {
    return this.#with({ versions: parseVersions(versions) })
  }

  /** The versions in which it may be null; all when none are named. */
  nullable(versions?: string): Field<Out | null, In | null, CanOmit> {
    return this.#with({ nullable: versions === undefined ? everyVersion : parseVersions(versions) })
  }

  default(value: Out): Field<Out, In, true> {
    return this.#with({ default: value })
  }

  /** Stands in the tagged fields of the given versions; all when none are named. */
  tagged(tag: number, versions?: string): Field<Out, In, true> {
    return this.#with({ tag, tagged: versions === undefined ? everyVersion : parseVersions(versions) })
  }

  /** A value that the version cannot carry is dropped rather than refused. */
  ignorable(): Field<Out, In, CanOmit> {
    return this.#with({ ignorable: true })
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the top of all fields, whatever their types
export type AnyField = Field<any, any, boolean>
export type Fields = Readonly<Record<string, AnyField>>

export type OutOf<F extends Fields> = { -readonly [Name in keyof F]: F[Name]['out'] }

type Omittable<F extends Fields> = { [Name in keyof F]: F[Name]['canOmit'] extends true ? Name : never }[keyof F]

export type InOf<F extends Fields> = {
  readonly [Name in Exclude<keyof F, Omittable<F>>]: F[Name]['in_']
} & {
  readonly [Name in Omittable<F>]?: F[Name]['in_'] | undefined
}

function field<Out, In = Out>(kind: Kind, more: Partial<FieldSpec> = {}): Field<Out, In, false> {
  return new Field({
    kind,
    versions: everyVersion,
    nullable: noVersion,
    default: undefined,
    tag: undefined,
    tagged: noVersion,
    ignorable: false,
    element: undefined,
    fields: undefined,
    ...more,
  })
}

export const bool = field<boolean>('bool')
export const int8 = field<number>('int8')
export const int16 = field<number>('int16')
export const uint16 = field<number>('uint16')
export const int32 = field<number>('int32')
/** A safe integer, or int64Max. */
export const int64 = field<number>('int64')
export const float64 = field<number>('float64')
export const string = field<string>('string')
/** Reads as a view of the frame. */
export const bytes = field<Buffer, Uint8Array>('bytes')
/** A record set: read as a view of the frame, written without a copy, in one piece or several. */
export const records = field<Buffer, Uint8Array | readonly Uint8Array[]>('records')
/** 22 characters of URL-safe base64. */
export const uuid = field<string>('uuid')

export function struct<const F extends Fields>(fields: F): Field<OutOf<F>, InOf<F>, false> {
  return field('struct', { fields })
}

export function array<F extends AnyField>(element: F): Field<F['out'][], readonly F['in_'][], false>
export function array<const F extends Fields>(fields: F): Field<OutOf<F>[], readonly InOf<F>[], false>
export function array(element: AnyField | Fields): AnyField {
  const one: AnyField = element instanceof Field ? element : struct(element)
  return field<unknown>('array', { element: one })
}
