// Turns places in partitions (beginning, end, a time) into offsets by asking the leaders. Keeps no positions.
import { isKafkaError, KafkaError } from '../../errors.js'
import { toKafkaError } from '../../protocol/messages/error-table.js'
import { ListOffsets } from '../../protocol/messages/list-offsets.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/cluster.js'
import { partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import { parseAgoMs, type StartPosition } from './positions.js'

export type Isolation = 'read_committed' | 'read_uncommitted'

export interface OffsetQuestion extends TopicPartition {
  readonly at: StartPosition
}

/** What the leader answered. For a time, `timestamp` is that of the record found; -1 otherwise. */
export interface FoundOffset extends TopicPartition {
  readonly offset: number
  readonly leaderEpoch: number
  readonly timestamp: number
}

interface Open {
  readonly question: OffsetQuestion
  /** As ListOffsets has it: -1 the end, -2 the beginning. */
  readonly timestamp: number
  outcome: FoundOffset | KafkaError | undefined
  /** Why there is no outcome yet; may pass. */
  hindrance: KafkaError | undefined
}

const endTimestamp = -1
const beginningTimestamp = -2

export class OffsetLookup {
  readonly #cluster: Cluster
  readonly #isolation: Isolation

  constructor(cluster: Cluster, isolation: Isolation) {
    this.#cluster = cluster
    this.#isolation = isolation
  }

  /**
   * The offsets of all questions, in their order. 'end' is the end for this isolation: the last stable offset under read_committed.
   * A time after the last record is the end. A number needs no broker and comes back as it is.
   * Errors that may pass are retried until the deadline; throws the first one that does not.
   */
  async offsets(questions: readonly OffsetQuestion[], deadline: Deadline): Promise<FoundOffset[]> {
    return found(await this.#withEnds(questions, (some) => this.#ask(some, deadline)))
  }

  /** As offsets(), but a time after the last record gives undefined. */
  async offsetsAt(questions: readonly OffsetQuestion[], deadline: Deadline): Promise<(FoundOffset | undefined)[]> {
    const outcomes = found(await this.#ask(questions, deadline))
    return outcomes.map((outcome) => (isAfterLast(outcome) ? undefined : outcome))
  }

  /**
   * As offsets(), but in one attempt, for those who retry by themselves: what hinders one question, for ever or for now, is in its place,
   * and no other waits for it. The topics must be known to the cluster.
   */
  outcomes(questions: readonly OffsetQuestion[], deadline: Deadline): Promise<(FoundOffset | KafkaError)[]> {
    return this.#withEnds(questions, async (some) => {
      const all = some.map((question) => this.#open(question))
      await this.#attempt(all.filter(isOpen), deadline)
      return all.map(({ outcome, hindrance }) => (outcome ?? hindrance)!)
    })
  }

  /** What is after the last record is asked for again, as the end. */
  async #withEnds(
    questions: readonly OffsetQuestion[],
    ask: (questions: readonly OffsetQuestion[]) => Promise<(FoundOffset | KafkaError)[]>,
  ): Promise<(FoundOffset | KafkaError)[]> {
    const outcomes = await ask(questions)
    const late = questions.filter((_, i) => isAfterLast(outcomes[i]!))
    if (late.length === 0) return outcomes
    const ends = await ask(late.map((question) => ({ ...question, at: 'end' as const })))
    return outcomes.map((outcome) => (isAfterLast(outcome) ? ends.shift()! : outcome))
  }

  #open(question: OffsetQuestion): Open {
    const { topic, partition, at } = question
    if (typeof at !== 'number')
      return { question, timestamp: this.#timestampOf(at), outcome: undefined, hindrance: undefined }
    const outcome = { topic, partition, offset: at, leaderEpoch: -1, timestamp: -1 }
    return { question, timestamp: 0, outcome, hindrance: undefined }
  }

  async #ask(questions: readonly OffsetQuestion[], deadline: Deadline): Promise<(FoundOffset | KafkaError)[]> {
    const all = questions.map((question) => this.#open(question))
    if (all.some(isOpen)) {
      const names = [...new Set(all.filter(isOpen).map(({ question }) => question.topic))]
      await this.#cluster.retry('looking up offsets', deadline, async (deadline) => {
        await this.#cluster.topics(names, deadline)
        await this.#attempt(all.filter(isOpen), deadline)
        const hindered = all.find(isOpen)
        if (hindered !== undefined) throw hindered.hindrance!
      })
    }
    return all.map(({ outcome }) => outcome!)
  }

  #timestampOf(at: Exclude<StartPosition, number>): number {
    if (at === 'end') return endTimestamp
    if (at === 'beginning') return beginningTimestamp
    if (at instanceof Date) return Math.max(0, at.getTime())
    return Math.max(0, Math.floor(this.#cluster.clock.date() - parseAgoMs(at.ago)!))
  }

  /** Asks every leader once, all at the same time. Each question has its outcome then, or its hindrance. */
  async #attempt(open: readonly Open[], deadline: Deadline): Promise<void> {
    // Brokers refuse a request that names a partition twice: each further question about one goes in a request of its own.
    const requests = new Map<string, { readonly nodeId: number; readonly group: Open[] }>()
    const seen = new Map<string, number>()
    for (const one of open) {
      one.hindrance = undefined
      const { topic, partition } = one.question
      const metadata = this.#cluster.cachedTopic(topic)
      if (metadata?.error !== undefined && !metadata.error.retriable) {
        one.outcome = metadata.error
        continue
      }
      const leaderId = metadata?.partitions[partition]?.leaderId
      if (leaderId === undefined || leaderId < 0) {
        const code = leaderId === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'LEADER_NOT_AVAILABLE'
        const lack = leaderId === undefined ? 'does not exist' : 'has no leader at the moment'
        const message = `${partitionKey(one.question)} ${lack}`
        one.hindrance = new KafkaError(message, { code, retriable: true, cause: metadata?.error })
        this.#cluster.refresh(message)
        continue
      }
      const name = partitionKey(one.question)
      const times = seen.get(name) ?? 0
      seen.set(name, times + 1)
      const request = requests.get(`${leaderId}/${times}`)
      if (request) request.group.push(one)
      else requests.set(`${leaderId}/${times}`, { nodeId: leaderId, group: [one] })
    }
    const asked = [...requests.values()].map(async ({ nodeId, group }) => {
      try {
        await this.#askLeader(nodeId, group, deadline)
      } catch (error) {
        if (!isKafkaError(error) || !error.retriable) throw error
        for (const one of group) one.hindrance = error
      }
    })
    for (const result of await Promise.allSettled(asked)) if (result.status === 'rejected') throw result.reason
  }

  async #askLeader(nodeId: number, group: readonly Open[], deadline: Deadline): Promise<void> {
    const topics = new Map<string, Open[]>()
    for (const one of group) {
      const { topic } = one.question
      const entry = topics.get(topic)
      if (entry) entry.push(one)
      else topics.set(topic, [one])
    }
    const response = await this.#cluster.send(
      nodeId,
      ListOffsets,
      {
        replicaId: -1,
        isolationLevel: this.#isolation === 'read_committed' ? 1 : 0,
        topics: [...topics].map(([name, entries]) => ({
          name,
          partitions: entries.map(({ question: { partition }, timestamp }) => ({
            partitionIndex: partition,
            currentLeaderEpoch: this.#cluster.cachedTopic(name)?.partitions[partition]?.leaderEpoch ?? -1,
            timestamp,
          })),
        })),
        timeoutMs: this.#cluster.config.requestTimeoutMs,
      },
      { deadline },
    )
    for (const { name, partitions } of response.topics) {
      for (const { partitionIndex, errorCode, offset, leaderEpoch, timestamp } of partitions) {
        const one = topics.get(name)?.find(({ question }) => question.partition === partitionIndex)
        if (one === undefined) continue
        if (errorCode === 0) {
          one.outcome = { topic: name, partition: partitionIndex, offset, leaderEpoch, timestamp }
          continue
        }
        const error = toKafkaError(errorCode, {
          what: 'looking up an offset',
          topic: name,
          partition: partitionIndex,
          broker: nodeId,
        })
        if (error.retriable) one.hindrance = error
        else one.outcome = error
      }
    }
    for (const one of group.filter(isOpen)) {
      const message = `broker ${nodeId} left ${partitionKey(one.question)} out of its answer`
      one.hindrance ??= new KafkaError(message, { code: 'MALFORMED_MESSAGE', retriable: true })
    }
  }
}

function isOpen({ outcome }: Open): boolean {
  return outcome === undefined
}

/** @throws {KafkaError} the first one among them */
function found(outcomes: readonly (FoundOffset | KafkaError)[]): FoundOffset[] {
  return outcomes.map((outcome) => {
    if (isKafkaError(outcome)) throw outcome
    return outcome
  })
}

function isAfterLast(outcome: FoundOffset | KafkaError): boolean {
  return !isKafkaError(outcome) && outcome.offset < 0
}
