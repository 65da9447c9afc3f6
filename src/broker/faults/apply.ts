// Puts the errors of faults into requests and answers: takes struck partitions out before they are processed, marks them in what
// was answered, corrupts fetched records.
import { errorCodes, type ErrorName } from '../../protocol/messages/error-table.js'
import type { ApiName } from '../../protocol/messages/registry.js'
import type { ClusterState } from '../cluster-state.js'
import type { Rule, Target } from './fault.js'
import { shapes, type Shape, type Struct, type TopicList } from './shapes.js'

type NameOf = (topicId: string) => string | undefined

/** The names of topics by their ids. */
export function namesIn(cluster: ClusterState): NameOf {
  return (topicId) => cluster.topicById(topicId)?.name
}

/** What a request is about, by its own lists. */
export function targetsIn(api: ApiName, request: Struct, cluster: ClusterState): Target[] {
  const { request: lists } = shapes[api]
  if (!lists) return []
  const nameOf = namesIn(cluster)
  const all = () => [...cluster.topics.keys()].map((topic) => ({ topic, partition: undefined }))
  if (api === 'DeleteTopics' && isByNames(request)) {
    return (request['topicNames'] as string[]).map((topic) => ({ topic, partition: undefined }))
  }
  // OffsetFetch has its topics in groups from version 8.
  const parts = api === 'OffsetFetch' ? [request, ...(request['groups'] as Struct[])] : [request]
  // Null asks for all topics, and so does no topic where there would be nothing to ask for.
  const asksAll = (list: unknown) =>
    list === null || (api === 'DescribeTopicPartitions' && (list as unknown[]).length === 0)
  return parts.flatMap((part) => (asksAll(part[lists.list]) ? all() : targetsOf(lists, part, nameOf)))
}

/** DeleteTopics up to version 5. */
function isByNames(request: Struct): boolean {
  return (request['topicNames'] as string[]).length > 0
}

function targetsOf(lists: TopicList, part: Struct, nameOf: NameOf): Target[] {
  const { list, partitions } = lists
  return (part[list] as Struct[]).flatMap((topic): Target[] => {
    const name = nameIn(topic, lists, nameOf)
    if (partitions === undefined) return [{ topic: name, partition: undefined }]
    return (topic[partitions] as unknown[]).map((entry) => ({ topic: name, partition: indexIn(entry, lists) }))
  })
}

function nameIn(topic: Struct, { name, id }: TopicList, nameOf: NameOf): string {
  const given = topic[name] as string | null | undefined
  if (given) return given
  const topicId = id === undefined ? undefined : (topic[id] as string | undefined)
  return topicId === undefined ? '' : (nameOf(topicId) ?? '')
}

function indexIn(entry: unknown, { index }: TopicList): number {
  return Number(index === undefined ? entry : (entry as Struct)[index])
}

function codeOf({ spec }: Rule): number {
  return errorCodes[spec.error as ErrorName]
}

export function codeFor(target: Target, errors: readonly Rule[]): number | undefined {
  const rule = errors.find((error) => error.covers(target))
  return rule && codeOf(rule)
}

/** The error that stands for the request as a whole. */
function firstCode(errors: readonly Rule[]): number {
  return codeOf(errors[0] as Rule)
}

export interface Taken {
  /** What is left to process; undefined when nothing is. */
  readonly rest: Struct | undefined
  /** Puts what was taken, as failed, into the answer to the rest. */
  readonly fill: (answer: Struct | undefined) => Struct
}

/** Takes what the errors cover out of a request. */
export function take(api: ApiName, request: Struct, version: number, errors: readonly Rule[], nameOf: NameOf): Taken {
  const shape = shapes[api]
  const { answer, request: asked } = shape
  const failed =
    shape.mode === 'whole' ? shape.failed : (errors[0] as Rule).spec.topic === undefined ? shape.top : undefined
  if (failed) {
    const whole = failed(firstCode(errors), request, version)
    return { rest: undefined, fill: () => whole }
  }
  // Asking for all topics cannot leave some out, and an error of a partition stands beside its topic.
  const marks = shape.mode === 'mark' || (api === 'Metadata' && marksMetadata(request, version, errors))
  if (marks || !answer || !asked) {
    return { rest: request, fill: (done) => mark(api, done as Struct, errors, nameOf, request, version) }
  }
  return api === 'DeleteTopics' && isByNames(request)
    ? takeNames(request, errors)
    : takeTopics(shape, request, version, errors, nameOf)
}

function marksMetadata({ topics }: Struct, version: number, errors: readonly Rule[]): boolean {
  return version === 0 || topics === null || errors.some(({ spec }) => spec.partition !== undefined)
}

function takeTopics(shape: Shape, request: Struct, version: number, errors: readonly Rule[], nameOf: NameOf): Taken {
  const asked = shape.request as TopicList
  const answer = shape.answer as TopicList
  const rest: Struct[] = []
  const failed: Struct[] = []
  for (const topic of request[asked.list] as Struct[]) {
    const name = nameIn(topic, asked, nameOf)
    const key: Struct = { [answer.name]: topic[asked.name] }
    if (asked.id !== undefined && answer.id !== undefined) key[answer.id] = topic[asked.id]
    if (asked.also !== undefined) key[asked.also] = topic[asked.also]
    if (asked.partitions === undefined) {
      const code = codeFor({ topic: name, partition: undefined }, errors)
      const none = answer.partitions === undefined ? {} : { [answer.partitions]: [] }
      if (code === undefined) rest.push(topic)
      else failed.push({ ...key, ...none, ...shape.failed(code, request, version) })
      continue
    }
    const kept: unknown[] = []
    const refused: Struct[] = []
    for (const entry of topic[asked.partitions] as unknown[]) {
      const partition = indexIn(entry, asked)
      const code = codeFor({ topic: name, partition }, errors)
      if (code === undefined) kept.push(entry)
      else refused.push({ [answer.index as string]: partition, ...shape.failed(code, request, version) })
    }
    if (kept.length > 0) rest.push({ ...topic, [asked.partitions]: kept })
    if (refused.length > 0) failed.push({ ...key, [answer.partitions as string]: refused })
  }
  const isProcessed = rest.length > 0 || shape.keepsRest === true
  return {
    rest: isProcessed ? { ...request, [asked.list]: rest } : undefined,
    fill: (done) => merged(done ?? { throttleTimeMs: 0, errorCode: 0, [answer.list]: [] }, failed, answer),
  }
}

function takeNames(request: Struct, errors: readonly Rule[]): Taken {
  const names = request['topicNames'] as string[]
  const failed = names.flatMap((name) => {
    const errorCode = codeFor({ topic: name, partition: undefined }, errors)
    return errorCode === undefined ? [] : { name, errorCode, errorMessage: null }
  })
  const rest = names.filter((name) => !failed.some((entry) => entry.name === name))
  return {
    rest: rest.length > 0 ? { ...request, topicNames: rest } : undefined,
    fill: (done) => merged(done ?? { throttleTimeMs: 0, responses: [] }, failed, { list: 'responses', name: 'name' }),
  }
}

function merged(answer: Struct, failed: readonly Struct[], { list, name, id, partitions }: TopicList): Struct {
  const topics = [...(answer[list] as Struct[])]
  for (const topic of failed) {
    const isSame = (other: Struct) => other[name] === topic[name] && (id === undefined || other[id] === topic[id])
    const at = partitions === undefined ? -1 : topics.findIndex(isSame)
    if (at < 0) topics.push(topic)
    else {
      const known = topics[at] as Struct
      const p = partitions as string
      topics[at] = { ...known, [p]: [...(known[p] as unknown[]), ...(topic[p] as unknown[])] }
    }
  }
  return { ...answer, [list]: topics }
}

/** Puts the errors over an answer: for what changes nothing, and for what is to fail after it was processed. */
export function mark(
  api: ApiName,
  answer: Struct,
  errors: readonly Rule[],
  nameOf: NameOf,
  request: Struct,
  version: number,
): Struct {
  const shape = shapes[api]
  const lists = shape.answer
  if (shape.mode === 'whole' || !lists) return { ...answer, ...shape.failed(firstCode(errors), request, version) }
  if ((errors[0] as Rule).spec.topic === undefined && shape.top)
    return { ...answer, ...shape.top(firstCode(errors), request, version) }
  const markTopics = (part: Struct): Struct => ({
    ...part,
    [lists.list]: (part[lists.list] as Struct[]).map((topic) => markTopic(topic, nameIn(topic, lists, nameOf))),
  })
  const markTopic = (topic: Struct, name: string): Struct => {
    const hasTopicError = 'errorCode' in topic
    const whole = errors.find(({ spec }) => spec.partition === undefined && (spec.topic ?? name) === name)
    if (hasTopicError && whole) return markedTopic(topic, lists, shape.failed(codeOf(whole), request, version))
    if (lists.partitions === undefined) return topic
    const partitions = (topic[lists.partitions] as Struct[]).map((entry) => {
      const code = codeFor({ topic: name, partition: indexIn(entry, lists) }, errors)
      if (code === undefined) return entry
      return { ...entry, ...('leaderId' in entry ? { leaderId: -1 } : {}), ...shape.failed(code, request, version) }
    })
    return { ...topic, [lists.partitions]: partitions }
  }
  if (api === 'OffsetFetch' && version >= 8) {
    return { ...answer, groups: (answer['groups'] as Struct[]).map(markTopics) }
  }
  return markTopics(answer)
}

function markedTopic(topic: Struct, { partitions }: TopicList, failed: Struct): Struct {
  return { ...topic, ...failed, ...(partitions === undefined ? {} : { [partitions]: [] }) }
}

/** Copies of the struck partitions' records with their last byte changed, so that the checksum of the last batch is wrong. */
export function corrupted(answer: Struct, rule: Rule, nameOf: NameOf): Struct {
  const responses = (answer['responses'] as Struct[]).map((topic) => {
    const name = nameIn(topic, { list: '', name: 'topic', id: 'topicId' }, nameOf)
    const partitions = (topic['partitions'] as Struct[]).map((entry) => {
      const chunks = entry['records'] as readonly Buffer[]
      if (chunks.length === 0 || !rule.covers({ topic: name, partition: Number(entry['partitionIndex']) })) return entry
      const records = Buffer.concat(chunks)
      corruptEveryBatch(records)
      return { ...entry, records: [records] }
    })
    return { ...topic, partitions }
  })
  return { ...answer, responses }
}

function corruptEveryBatch(records: Buffer): void {
  for (let at = 0; at < records.length;) {
    const next = at + 12 + records.readInt32BE(at + 8)
    records[next - 1]! ^= 0xff
    at = next
  }
}
