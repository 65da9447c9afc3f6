// Compares every declared API and struct with the JSON definitions in Kafka's client jar, and lists Kafka's APIs that are not declared.
import * as structs from '../../src/protocol/messages/consumer-protocol.js'
import { apis, apisByKey } from '../../src/protocol/messages/registry.js'
import type { Fields, Message } from '../../src/protocol/wire/index.js'
import { messageDefinitions } from '../fixtures-wire/oracle.js'
import { differences, show, type JsonMessage } from './fields.js'

export interface ComparedApi {
  /** undefined for a struct. */
  readonly key: number | undefined
  readonly name: string
  /** Valid versions; undefined when not declared. */
  readonly ours: string | undefined
  readonly kafkas: string
  readonly differences: readonly string[]
}

export interface ComparedMessages {
  readonly jar: string
  readonly rows: readonly ComparedApi[]
}

export function compareMessages(): ComparedMessages {
  const { jar, definitions } = messageDefinitions()
  const byName = new Map((definitions as JsonMessage[]).map((definition) => [definition.name, definition]))
  const requests = [...byName.values()].filter(({ type }) => type === 'request')

  const undeclared = requests
    .filter(({ apiKey }) => !apisByKey.has(apiKey!))
    .map(({ apiKey, name, validVersions }) => ({
      key: apiKey,
      name: name.replace(/Request$/, ''),
      ours: undefined,
      kafkas: validVersions === 'none' ? 'removed' : validVersions,
      differences: [],
    }))
  const declared = Object.values(apis).map(({ key, name, versions, latestVersionUnstable, request, response }) => ({
    key,
    name,
    ours: show(versions),
    kafkas: byName.get(request.name)?.validVersions ?? '-',
    differences: [
      ...compare(request as unknown as Message<Fields>, byName, { key, latestVersionUnstable }),
      ...compare(response as unknown as Message<Fields>, byName, { key }),
    ],
  }))
  const plain = Object.values(structs).map((struct) => ({
    key: undefined,
    name: struct.name,
    ours: show(struct.versions),
    kafkas: byName.get(struct.name)?.validVersions ?? '-',
    differences: compare(struct, byName, {}),
  }))
  return { jar, rows: [...[...declared, ...undeclared].sort((a, b) => a.key! - b.key!), ...plain] }
}

function compare(
  ours: Message<Fields>,
  byName: ReadonlyMap<string, JsonMessage>,
  { key, latestVersionUnstable = false }: { readonly key?: number; readonly latestVersionUnstable?: boolean },
): string[] {
  const definition = byName.get(ours.name)
  if (!definition) return [`${ours.name}: Kafka has no such message`]
  const found = differences(ours, definition)
  if (key !== definition.apiKey) found.push(`${ours.name}: key is ${key}, Kafka's is ${definition.apiKey}`)
  const unstable = definition.latestVersionUnstable ?? false
  if (latestVersionUnstable !== unstable) {
    found.push(`${ours.name}: latestVersionUnstable is ${latestVersionUnstable}, Kafka's is ${unstable}`)
  }
  return found
}
