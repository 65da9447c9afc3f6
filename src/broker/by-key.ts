// The entries of a request by what they name: Kafka answers once for a name that is given several times, with an error.

export interface Named<T> {
  readonly entry: T
  readonly isRepeated: boolean
}

/** In the order in which the keys come first. */
export function byKey<T>(entries: readonly T[], keyOf: (entry: T) => string): ReadonlyMap<string, Named<T>> {
  const named = new Map<string, Named<T>>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const known = named.get(key)
    named.set(key, { entry: known?.entry ?? entry, isRepeated: known !== undefined })
  }
  return named
}
