// Which names Kafka takes for a topic, and what it says about others.

const legal = /^[a-zA-Z0-9._-]+$/
const longest = 249

/** Why the name is not legal, in Kafka's words; undefined if it is. */
export function whyIllegal(name: string): string | undefined {
  if (name === '') return 'Topic name is invalid: the empty string is not allowed'
  if (name === '.' || name === '..') return `Topic name is invalid: '${name}' is not allowed`
  if (name.length > longest) {
    return `Topic name is invalid: the length of '${name}' is longer than the max allowed length ${longest}`
  }
  if (!legal.test(name)) {
    return `Topic name is invalid: '${name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'`
  }
  return undefined
}

/** Metrics write '.' as '_', so two topics must not differ in that alone. */
export function collidingName(name: string, existing: Iterable<string>): string | undefined {
  const plain = name.replaceAll('.', '_')
  for (const other of existing) if (other !== name && other.replaceAll('.', '_') === plain) return other
  return undefined
}
