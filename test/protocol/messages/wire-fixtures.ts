// The recorded bytes of test/fixtures/wire, which Apache Kafka's own classes wrote (npm run fixtures:wire), and every message they are of.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as structs from '../../../src/protocol/messages/consumer-protocol.js'
import { apis } from '../../../src/protocol/messages/registry.js'
import { Field, Reader, Writer, type AnyField, type Fields, type Message } from '../../../src/protocol/wire/index.js'

const folder = join(import.meta.dirname, '../../fixtures/wire')

export interface WireFixture {
  readonly of: 'request' | 'response' | 'data'
  readonly version: number
  readonly variant: 'full' | 'bare'
  /** In base64, as all bytes in `value`. */
  readonly bytes: string
  readonly value: unknown
}

export interface HeaderFixture {
  readonly api: keyof typeof apis
  readonly version: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly request: string
  readonly response: string
}

function lines<T>(file: string): T[] {
  return readFileSync(join(folder, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}

/** Fixtures by API or struct name. */
export const fixtures: ReadonlyMap<string, readonly WireFixture[]> = new Map(
  readdirSync(folder)
    .filter((file) => file !== 'headers.jsonl')
    .map((file) => [file.replace('.jsonl', ''), lines<WireFixture>(file)]),
)

export const headerFixtures: readonly HeaderFixture[] = lines('headers.jsonl')

type AnyMessage = Message<Fields>

export interface DeclaredMessage {
  /** API or struct. */
  readonly name: string
  readonly of: WireFixture['of']
  readonly message: AnyMessage
}

export const declaredMessages: readonly DeclaredMessage[] = [
  ...Object.values(apis).flatMap((api) => [
    { name: api.name, of: 'request' as const, message: api.request as unknown as AnyMessage },
    { name: api.name, of: 'response' as const, message: api.response as unknown as AnyMessage },
  ]),
  ...Object.values(structs).map((message) => ({
    name: message.name,
    of: 'data' as const,
    message: message,
  })),
]

export function versionsOf({ versions: { min, max } }: AnyMessage): number[] {
  return Array.from({ length: max - min + 1 }, (_, i) => min + i)
}

export function encode(message: AnyMessage, version: number, value: unknown): Buffer {
  const writer = new Writer()
  message.write(writer, version, value as never)
  return Buffer.concat(writer.finish())
}

/** Reads one message that must be all there is. */
export function decode(message: AnyMessage, version: number, bytes: Buffer): unknown {
  const reader = new Reader(bytes)
  const value = message.read(reader, version)
  if (reader.remaining > 0) throw new Error(`${reader.remaining} of ${bytes.length} bytes were not read`)
  return value
}

/** A decoded value as the fixtures write it. */
export function toFixtureValue(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (Array.isArray(value)) return value.map(toFixtureValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, toFixtureValue(field)]))
}

/** A value of the fixtures as one writes it. */
export function fromFixtureValue(declared: AnyField | Fields, value: unknown): unknown {
  if (!(declared instanceof Field)) {
    const struct = value as Record<string, unknown>
    return Object.fromEntries(
      Object.entries(declared).map(([name, field]) => [name, fromFixtureValue(field, struct[name])]),
    )
  }
  const { kind, element, fields } = declared.spec
  if (value === null) return null
  if (kind === 'bytes' || kind === 'records') return Buffer.from(value as string, 'base64')
  if (kind === 'array') return (value as unknown[]).map((item) => fromFixtureValue(element!, item))
  return kind === 'struct' ? fromFixtureValue(fields!, value) : value
}
