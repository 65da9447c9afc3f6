// AlterConfigs, versions 0-2: replaces all that is set for a topic or broker; as Apache Kafka's. Deviation: unknown broker configs are
// refused, where Kafka keeps them for plugins.
import { AlterConfigs } from '../../protocol/messages/alter-configs.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import { alterEach } from '../alter-each.js'
import { checkTexts, configTargetOf } from '../config-targets.js'
import { Refused } from '../topic-creation.js'
import { handler } from './handler.js'

export const alterConfigsHandler = handler(AlterConfigs, (request, { cluster, broker }) => {
  const responses = alterEach(request.resources, ({ resourceType, resourceName, configs }) => {
    const target = configTargetOf(cluster, broker.id, resourceType, resourceName)
    const texts = new Map<string, string>()
    for (const { name, value } of configs) {
      if (value === null) {
        throw new Refused(errorCodes.INVALID_REQUEST, `Null value not supported for : ${name}`)
      }
      texts.set(name, value)
    }
    checkTexts(target.view, target.texts, texts)
    if (!request.validateOnly) target.replace(texts)
  })
  return { throttleTimeMs: 0, responses }
})
