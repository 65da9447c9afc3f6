// DescribeConfigs, versions 1-4: topics and brokers, with sources, synonyms and documentation. Deviation: broker loggers, client metrics
// and groups have no configs here and are refused with INVALID_REQUEST.
import { DescribeConfigs } from '../../protocol/messages/describe-configs.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import type { RequestOf } from '../../protocol/wire/index.js'
import { configTargetOf } from '../config-targets.js'
import type { ConfigView } from '../config/config-set.js'
import type { ConfigDefinition } from '../config/definition.js'
import { Refused } from '../topic-creation.js'
import { handler } from './handler.js'

type DescribeRequest = RequestOf<typeof DescribeConfigs>

/** As the protocol numbers them. */
const typeNumbers: Record<ConfigDefinition['type'], number> = {
  boolean: 1,
  string: 2,
  int: 3,
  short: 4,
  long: 5,
  double: 6,
  list: 7,
  class: 8,
  password: 9,
}

export const describeConfigsHandler = handler(DescribeConfigs, (request, { cluster, broker }) => {
  const results = request.resources.map((resource) => {
    const { resourceType, resourceName, configurationKeys } = resource
    const result = { errorCode: errorCodes.NONE, errorMessage: '', resourceType, resourceName }
    try {
      const target = configTargetOf(cluster, broker.id, resourceType, resourceName)
      const definitions = [...target.view.definitions].filter(
        ({ name }) =>
          (configurationKeys === null || configurationKeys.length === 0 || configurationKeys.includes(name)) &&
          (!target.onlySet || target.texts.has(name)),
      )
      return { ...result, configs: definitions.map((definition) => described(definition, target.view, request)) }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { ...result, errorCode: error.code, errorMessage: error.message, configs: [] }
    }
  })
  return { throttleTimeMs: 0, results }
})

function described(
  { name, type, readOnly, documentation }: ConfigDefinition,
  view: ConfigView,
  request: DescribeRequest,
) {
  return {
    name,
    value: view.text(name),
    readOnly: readOnly === true,
    configSource: view.source(name),
    isSensitive: false,
    synonyms: request.includeSynonyms
      ? view.synonyms(name).map((synonym) => ({ name: synonym.name, value: synonym.text, source: synonym.source }))
      : [],
    configType: typeNumbers[type],
    documentation: request.includeDocumentation ? documentation : null,
  }
}
