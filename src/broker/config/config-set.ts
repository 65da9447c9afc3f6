// Texts set for a broker or a topic over the defaults below them, with their values parsed once.
import { InvalidConfig, parseConfig, type ConfigDefinition, type ConfigValue } from './definition.js'

/** Where a value comes from, as DescribeConfigs numbers it. */
export const configSource = {
  dynamicTopic: 1,
  dynamicBroker: 2,
  dynamicDefaultBroker: 3,
  staticBroker: 4,
  default: 5,
  group: 8,
} as const

export interface Synonym {
  readonly name: string
  readonly text: string | null
  readonly source: number
}

/** One layer of texts: what was set, and from where that counts. */
export interface Layer {
  readonly source: number
  readonly texts: ReadonlyMap<string, string>
}

export class ConfigView {
  readonly #definitions: ReadonlyMap<string, ConfigDefinition>
  readonly #layers: readonly Layer[]
  readonly #parent: ConfigView | undefined
  readonly #values = new Map<string, ConfigValue>()

  /** `layers` from the strongest to the weakest; `parent` gives topic configs their defaults. */
  constructor(definitions: ReadonlyMap<string, ConfigDefinition>, layers: readonly Layer[], parent?: ConfigView) {
    this.#definitions = definitions
    this.#layers = layers
    this.#parent = parent
  }

  get kind(): 'topic' | 'broker' {
    return this.#parent ? 'topic' : 'broker'
  }

  get definitions(): Iterable<ConfigDefinition> {
    return this.#definitions.values()
  }

  definition(name: string): ConfigDefinition | undefined {
    return this.#definitions.get(name)
  }

  /** Every place that gives the config a value, the one that counts first; as Kafka lists them, only the first synonym's default. */
  synonyms(name: string): readonly Synonym[] {
    const { default: byDefault, brokerSynonyms } = this.#known(name)
    const own = this.#set(name)
    const parent = this.#parent
    if (!parent || !brokerSynonyms) {
      return byDefault === null ? own : [...own, { name, text: byDefault, source: configSource.default }]
    }
    const inherited = brokerSynonyms.flatMap((synonym) => parent.#set(synonym.name))
    const [first] = brokerSynonyms
    const text = first ? (parent.#known(first.name).default ?? undefined) : undefined
    const last = first && text !== undefined ? [{ name: first.name, text, source: configSource.default }] : []
    return [...own, ...inherited, ...last]
  }

  #set(name: string): Synonym[] {
    return this.#layers.flatMap(({ source, texts }) => {
      const text = texts.get(name)
      return text === undefined ? [] : [{ name, text, source }]
    })
  }

  text(name: string): string | null {
    const first = this.synonyms(name)[0]
    if (!first) return this.#known(name).default
    if (first.text === null) return null
    const factor = this.#known(name).brokerSynonyms?.find((synonym) => synonym.name === first.name)?.factor ?? 1
    return factor === 1 ? first.text : String(Number(first.text) * factor)
  }

  /** Where the value that counts comes from. */
  source(name: string): number {
    return this.synonyms(name)[0]?.source ?? configSource.default
  }

  value(name: string): ConfigValue {
    let value = this.#values.get(name)
    if (value === undefined) this.#values.set(name, (value = parseConfig(this.#known(name), this.text(name))))
    return value
  }

  int(name: string): number {
    return Number(this.value(name))
  }

  bool(name: string): boolean {
    return this.value(name) === true
  }

  string(name: string): string {
    return String(this.value(name) ?? '')
  }

  list(name: string): readonly string[] {
    return (this.value(name) ?? []) as readonly string[]
  }

  /** To be called when a text below has changed. */
  changed(): void {
    this.#values.clear()
  }

  #known(name: string): ConfigDefinition {
    const definition = this.#definitions.get(name)
    if (!definition) throw new InvalidConfig(`Unknown topic config name: ${name}`)
    return definition
  }
}

export function byName(definitions: readonly ConfigDefinition[]): ReadonlyMap<string, ConfigDefinition> {
  return new Map(definitions.map((definition) => [definition.name, definition]))
}
