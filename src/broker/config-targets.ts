// The resources that have configs, as requests name them: a topic, a broker, or all brokers ('').
import { errorCodes } from '../protocol/messages/error-table.js'
import type { ClusterState } from './cluster-state.js'
import type { ConfigView } from './config/config-set.js'
import { InvalidConfig, parseConfig, type ConfigDefinition } from './config/definition.js'
import { Refused } from './topic-creation.js'
import { whyIllegal } from './topic-names.js'

const topicResource = 2
const brokerResource = 4

export interface ConfigTarget {
  readonly view: ConfigView
  /** What is set for the resource itself. */
  readonly texts: ReadonlyMap<string, string>
  /** Describing it shows only what is set. */
  readonly onlySet: boolean
  /** Replaces what is set, after {@link checkTexts}. */
  readonly replace: (texts: ReadonlyMap<string, string>) => void
}

/** Throws Refused. */
export function configTargetOf(cluster: ClusterState, brokerId: number, type: number, name: string): ConfigTarget {
  if (type === topicResource) return topicTarget(cluster, name)
  if (type === brokerResource) return brokerTarget(cluster, brokerId, name)
  throw new Refused(errorCodes.INVALID_REQUEST, `Unsupported resource type: ${type}`)
}

function topicTarget(cluster: ClusterState, name: string): ConfigTarget {
  const illegal = whyIllegal(name)
  if (illegal !== undefined) throw new Refused(errorCodes.INVALID_TOPIC_EXCEPTION, illegal)
  const topic = cluster.topics.get(name)
  if (!topic) throw new Refused(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, `The topic '${name}' does not exist.`)
  return {
    view: topic.config,
    texts: topic.configTexts,
    onlySet: false,
    replace: (texts) => {
      replaceIn(topic.configTexts, texts)
      cluster.configChanged()
    },
  }
}

function brokerTarget(cluster: ClusterState, brokerId: number, name: string): ConfigTarget {
  if (name !== '' && name !== String(brokerId)) {
    if (!/^-?\d+$/.test(name)) {
      throw new Refused(errorCodes.INVALID_REQUEST, `Broker id must be an integer, but it is: ${name}`)
    }
    const message = `Unexpected broker id, expected ${brokerId} or empty string, but received ${name}`
    throw new Refused(errorCodes.INVALID_REQUEST, message)
  }
  const id = name === '' ? '' : brokerId
  return {
    view: cluster.brokerConfig(id),
    texts: cluster.brokerTexts(id),
    onlySet: id === '',
    replace: (texts) => {
      replaceIn(cluster.brokerTexts(id), texts)
      cluster.configChanged()
    },
  }
}

function replaceIn(map: Map<string, string>, texts: ReadonlyMap<string, string>): void {
  map.clear()
  for (const [name, text] of texts) map.set(name, text)
}

/** Checks what is about to be set for a resource. Throws Refused. */
export function checkTexts(
  view: ConfigView,
  before: ReadonlyMap<string, string>,
  texts: ReadonlyMap<string, string>,
): void {
  for (const [name, text] of texts) {
    const definition = knownConfig(view, name)
    if (definition.readOnly && before.get(name) !== text) {
      throw new Refused(errorCodes.INVALID_REQUEST, `Cannot update these configs dynamically: [${name}]`)
    }
    try {
      parseConfig(definition, text)
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error
      throw new Refused(errorCodes.INVALID_CONFIG, error.message)
    }
  }
}

/** Throws Refused. */
export function knownConfig(view: ConfigView, name: string): ConfigDefinition {
  const definition = view.definition(name)
  if (!definition) throw new Refused(errorCodes.INVALID_CONFIG, `Unknown ${view.kind} config name: ${name}`)
  return definition
}
