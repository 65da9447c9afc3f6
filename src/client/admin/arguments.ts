// Checks of what calls are given besides their options: topics, partitions, groups, and lists of them.
import { UsageError } from '../../errors.js'
import { partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import { integer, nonEmptyString, required, resolveOptions, shown, type Check } from '../../util/options.js'
import { topicName, type TopicLike } from '../serde/index.js'

export const maxInt32 = 2 ** 31 - 1

export const topicNameCheck: Check<string> = (value, fail) => {
  try {
    return topicName(value as TopicLike)
  } catch {
    return fail("a topic's legal name, or what topic() gives")
  }
}

export const partitionSpecs = {
  topic: required(topicNameCheck),
  partition: required(integer(0, maxInt32)),
}

/** Each item of a list, checked by `parse`, which gets the item and how to call it in an error. */
export function listOf<T>(
  call: string,
  name: string,
  given: unknown,
  parse: (item: unknown, where: string) => T,
  keyOf: (item: T) => string | undefined,
): T[] {
  if (!Array.isArray(given)) {
    throw new UsageError(`Admin.${call}: ${name} must be an array, got ${shown(given)}`, 'INVALID_OPTION')
  }
  const seen = new Set<string>()
  return given.map((item: unknown, i) => {
    const parsed = parse(item, `Admin.${call}: ${name}[${i}]`)
    const key = keyOf(parsed)
    if (key === undefined) return parsed
    if (seen.has(key)) throw new UsageError(`Admin.${call}: ${name} has ${key} twice`, 'INVALID_OPTION')
    seen.add(key)
    return parsed
  })
}

export function topicNames(call: string, given: unknown): string[] {
  return listOf(
    call,
    'topics',
    given,
    (item, where) => topicNameCheck(item, (allowed) => refuse(where, allowed, item)),
    (topic) => topic,
  )
}

export function groupName(call: string, given: unknown): string {
  return nonEmptyString(given, (allowed) => refuse(`Admin.${call}: group`, allowed, given))
}

export function groupNames(call: string, given: unknown): string[] {
  return listOf(
    call,
    'groups',
    given,
    (item, where) => nonEmptyString(item, (allowed) => refuse(where, allowed, item)),
    (group) => group,
  )
}

export function topicPartitions(call: string, given: unknown): TopicPartition[] {
  return listOf(call, 'partitions', given, (item, where) => resolveOptions(where, item, partitionSpecs), partitionKey)
}

export function refuse(where: string, allowed: string, got: unknown): never {
  throw new UsageError(`${where} must be ${allowed}, got ${shown(got)}`, 'INVALID_OPTION')
}
