// IncrementalAlterConfigs, versions 0-1: sets, deletes, appends to and subtracts from single configs (KIP-339); as Apache Kafka's.
// Deviation: as AlterConfigs'.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { IncrementalAlterConfigs } from '../../protocol/messages/incremental-alter-configs.js'
import type { RequestOf } from '../../protocol/wire/index.js'
import { alterEach } from '../alter-each.js'
import { checkTexts, configTargetOf, knownConfig, type ConfigTarget } from '../config-targets.js'
import { Refused } from '../topic-creation.js'
import { handler } from './handler.js'

type Change = RequestOf<typeof IncrementalAlterConfigs>['resources'][number]['configs'][number]

const operations = ['SET', 'DELETE', 'APPEND', 'SUBTRACT'] as const

export const incrementalAlterConfigsHandler = handler(IncrementalAlterConfigs, (request, { cluster, broker }) => {
  const responses = alterEach(request.resources, ({ resourceType, resourceName, configs }) => {
    const target = configTargetOf(cluster, broker.id, resourceType, resourceName)
    const names = configs.map(({ name }) => name)
    if (new Set(names).size < names.length) {
      throw new Refused(errorCodes.INVALID_REQUEST, 'Error due to duplicate config keys')
    }
    const texts = new Map(target.texts)
    const changed = new Map<string, string>()
    for (const change of configs) {
      const text = changedText(target, change)
      if (text === undefined) texts.delete(change.name)
      else {
        texts.set(change.name, text)
        changed.set(change.name, text)
      }
    }
    checkTexts(target.view, target.texts, changed)
    if (!request.validateOnly) target.replace(texts)
  })
  return { throttleTimeMs: 0, responses }
})

/** The new text; undefined for none. */
function changedText({ view, texts }: ConfigTarget, { name, value, configOperation }: Change): string | undefined {
  const operation = operations[configOperation]
  if (operation === undefined) {
    throw new Refused(errorCodes.INVALID_REQUEST, `Unknown operation type ${configOperation} for ${name}`)
  }
  if (operation === 'DELETE') return undefined
  const definition = knownConfig(view, name)
  if (value === null) throw new Refused(errorCodes.INVALID_REQUEST, `Null value not supported for : ${name}`)
  if (operation === 'SET') return value
  if (definition.type !== 'list') {
    const message = `Can't ${operation} to key ${name} because its type is not LIST.`
    throw new Refused(errorCodes.INVALID_CONFIG, message)
  }
  const items = itemsOf(texts.get(name) ?? definition.default ?? '')
  const given = itemsOf(value)
  const result =
    operation === 'APPEND'
      ? [...items, ...given.filter((item) => !items.includes(item))]
      : items.filter((item) => !given.includes(item))
  return result.join(',')
}

function itemsOf(text: string): string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}
