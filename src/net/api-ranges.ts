// Which version of which API goes over a connection: the highest that both sides have (T108, T110).
import { KafkaError } from '../errors.js'
import type { ApiVersions } from '../protocol/messages/api-versions.js'
import type { AnyApi, ResponseOf } from '../protocol/wire/index.js'

export interface FeatureLevels {
  readonly min: number
  readonly max: number
}

export class ApiRanges {
  readonly #where: string
  readonly #ranges = new Map<number, { readonly min: number; readonly max: number }>()
  /** The chosen version by API key. */
  readonly #chosen: (number | undefined)[] = []
  /** What the whole cluster has enabled. */
  readonly features = new Map<string, FeatureLevels>()

  constructor(where: string, response: ResponseOf<typeof ApiVersions>) {
    this.#where = where
    for (const { apiKey, minVersion, maxVersion } of response.apiKeys) {
      this.#ranges.set(apiKey, { min: minVersion, max: maxVersion })
    }
    for (const { name, minVersionLevel, maxVersionLevel } of response.finalizedFeatures) {
      this.features.set(name, { min: minVersionLevel, max: maxVersionLevel })
    }
  }

  supports(api: AnyApi): boolean {
    return this.#best(api, Infinity) !== undefined
  }

  /** Throws UNSUPPORTED_VERSION when there is no common version: an API that a broker lacks is an error where it is used. */
  versionOf(api: AnyApi, maxVersion?: number): number {
    if (maxVersion !== undefined) return this.#best(api, maxVersion) ?? this.#refuse(api, maxVersion)
    return (this.#chosen[api.key] ??= this.#best(api, Infinity) ?? this.#refuse(api, Infinity))
  }

  /** Throws UNSUPPORTED_VERSION when the broker does not have this very version. */
  check(api: AnyApi, version: number): number {
    const theirs = this.#ranges.get(api.key)
    if (theirs && version >= theirs.min && version <= theirs.max) return version
    throw new KafkaError(`broker ${this.#where} does not have version ${version} of ${api.name}`, {
      code: 'UNSUPPORTED_VERSION',
    })
  }

  #best(api: AnyApi, maxVersion: number): number | undefined {
    const theirs = this.#ranges.get(api.key)
    if (!theirs) return undefined
    const best = Math.min(api.stableVersions.max, theirs.max, maxVersion)
    return best >= Math.max(api.stableVersions.min, theirs.min) ? best : undefined
  }

  #refuse(api: AnyApi, maxVersion: number): never {
    const theirs = this.#ranges.get(api.key)
    const { min, max } = api.stableVersions
    const wanted = `${min}-${Math.min(max, maxVersion)}`
    const got = theirs
      ? `it has versions ${theirs.min}-${theirs.max}, needed is one of ${wanted}`
      : 'it does not have it at all'
    throw new KafkaError(`broker ${this.#where} cannot serve ${api.name}: ${got}`, { code: 'UNSUPPORTED_VERSION' })
  }
}
