// Declares an API or a message once; client and broker read and write every version of it from that.
import { KafkaError } from '../../errors.js'
import type { Fields, InOf, OutOf } from './field.js'
import { compileStruct, type Codec } from './plan.js'
import type { Reader } from './reader.js'
import { includes, parseVersions, type Versions } from './versions.js'
import type { Writer } from './writer.js'

export interface Message<F extends Fields> {
  readonly name: string
  readonly versions: Versions
  readonly flexible: Versions
  readonly fields: F
  read(reader: Reader, version: number): OutOf<F>
  write(writer: Writer, version: number, value: InOf<F>): void
}

interface MessageDeclaration<F extends Fields> {
  readonly name: string
  /** All that Kafka's definition calls valid. */
  readonly versions: string
  /** Those with compact lengths and tagged fields. */
  readonly flexible: string
  readonly fields: F
}

export function message<const F extends Fields>(declaration: MessageDeclaration<F>): Message<F> {
  const { name, fields } = declaration
  const versions = parseVersions(declaration.versions)
  const flexible = parseVersions(declaration.flexible)
  const plans: (Codec | undefined)[] = []

  function plan(version: number): Codec {
    const known = plans[version]
    if (known) return known
    if (!includes(versions, version)) {
      const message = `${name} has versions ${versions.min}-${versions.max}, not ${version}`
      throw new KafkaError(message, { code: 'UNSUPPORTED_VERSION' })
    }
    return (plans[version] = compileStruct(fields, { where: name, version, flexible: includes(flexible, version) }))
  }

  return {
    name,
    versions,
    flexible,
    fields,
    read: (reader, version) => plan(version).read(reader) as OutOf<F>,
    write: (writer, version, value) => plan(version).write(writer, value),
  }
}

export interface Api<Req extends Fields, Res extends Fields> {
  readonly name: string
  readonly key: number
  /** All declared versions. */
  readonly versions: Versions
  /** The declared versions but for one that Kafka marks as unstable: what a broker advertises and a client uses. */
  readonly stableVersions: Versions
  readonly latestVersionUnstable: boolean
  readonly request: Message<Req>
  readonly response: Message<Res>
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the top of all APIs, whatever their fields
export type AnyApi = Api<any, any>

export type RequestOf<A extends AnyApi> = A extends Api<infer Req, Fields> ? OutOf<Req> : never
export type ResponseOf<A extends AnyApi> = A extends Api<Fields, infer Res> ? OutOf<Res> : never
export type RequestInput<A extends AnyApi> = A extends Api<infer Req, Fields> ? InOf<Req> : never
export type ResponseInput<A extends AnyApi> = A extends Api<Fields, infer Res> ? InOf<Res> : never

interface ApiDeclaration<Req extends Fields, Res extends Fields> {
  readonly name: string
  readonly key: number
  readonly versions: string
  readonly flexible: string
  readonly latestVersionUnstable?: boolean
  readonly request: Req
  readonly response: Res
}

export function api<const Req extends Fields, const Res extends Fields>(
  declaration: ApiDeclaration<Req, Res>,
): Api<Req, Res> {
  const { name, key, versions, flexible, latestVersionUnstable = false } = declaration
  const request = message({ name: `${name}Request`, versions, flexible, fields: declaration.request })
  const response = message({ name: `${name}Response`, versions, flexible, fields: declaration.response })
  const { min, max } = request.versions
  return {
    name,
    key,
    versions: request.versions,
    stableVersions: { min, max: latestVersionUnstable ? max - 1 : max },
    latestVersionUnstable,
    request,
    response,
  }
}
