// Reads and writes a group's committed offsets. Knows neither assignment nor what is done; whoever calls does.
import type { KafkaError } from '../../errors.js'
import { toKafkaError } from '../../protocol/messages/error-table.js'
import { OffsetCommit } from '../../protocol/messages/offset-commit.js'
import { OffsetFetch } from '../../protocol/messages/offset-fetch.js'
import { byTopic, partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import type { ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'
import type { GroupRequests, Standing } from './group-requests.js'

export interface CommittedOffset extends TopicPartition {
  /** Of the next record to read. */
  readonly offset: number
  /** Of the record before it; -1 if not known. */
  readonly leaderEpoch: number
  readonly metadata: string
}

export interface CommitOutcome extends TopicPartition {
  readonly offset: number
  readonly error: KafkaError | undefined
}

// From version 10 both APIs name topics by id, which belongs to the protocol of KIP-848.
const BY_NAME = 9

export class CommittedOffsets {
  readonly #cluster: Cluster
  readonly #group: string
  readonly #requests: GroupRequests

  constructor(cluster: Cluster, group: string, requests: GroupRequests) {
    this.#cluster = cluster
    this.#group = group
    this.#requests = requests
  }

  /**
   * The committed offsets of these partitions; those without one are absent. Only the answer "offset -1, no error" means that there is
   * none: every error is retried until the deadline or thrown.
   */
  async fetch(
    partitions: readonly TopicPartition[],
    requireStable: boolean,
    deadline: Deadline,
  ): Promise<Map<string, CommittedOffset>> {
    const what = `reading the committed offsets of group ${this.#group}`
    const found = await this.#cluster.retry(what, deadline, async (attemptDeadline) => {
      const response = await this.#cluster.sendToCoordinator(
        this.#group,
        OffsetFetch,
        (version) => this.#fetchRequest(version, partitions, requireStable),
        { deadline: attemptDeadline, maxVersion: BY_NAME, what, errorCodeOf: fetchErrorOf },
      )
      return this.#foundIn(response, partitions, what)
    })
    return found
  }

  #fetchRequest(version: number, partitions: readonly TopicPartition[], requireStable: boolean) {
    const topics = [...byTopic(partitions)].map(([name, list]) => ({
      name,
      partitionIndexes: list.map(({ partition }) => partition),
    }))
    const stable = requireStable && version >= 7
    return version < 8
      ? { groupId: this.#group, topics, requireStable: stable }
      : { groups: [{ groupId: this.#group, topics }], requireStable: stable }
  }

  #foundIn(
    response: ResponseOf<typeof OffsetFetch>,
    asked: readonly TopicPartition[],
    what: string,
  ): Map<string, CommittedOffset> {
    const groupError = fetchErrorOf(response)
    if (groupError !== 0) throw this.#requests.refusal(groupError, what)
    const committed = new Map<string, CommittedOffset>()
    const answered = new Set<string>()
    for (const { name: topic, partitions } of response.groups[0]?.topics ?? response.topics) {
      for (const {
        partitionIndex: partition,
        errorCode,
        committedOffset,
        committedLeaderEpoch,
        metadata,
      } of partitions) {
        if (errorCode !== 0) throw toKafkaError(errorCode, { what, topic, partition })
        const key = partitionKey({ topic, partition })
        answered.add(key)
        if (committedOffset < 0) continue
        const leaderEpoch = committedLeaderEpoch
        committed.set(key, { topic, partition, offset: committedOffset, leaderEpoch, metadata: metadata ?? '' })
      }
    }
    const omitted = asked.find((one) => !answered.has(partitionKey(one)))
    if (omitted)
      throw toKafkaError(UNANSWERED, { what, ...omitted, brokerMessage: 'the answer leaves this partition out' })
    return committed
  }

  /** One attempt to commit, retried only on the way to the coordinator; one outcome for each partition. */
  async commit(
    offsets: readonly CommittedOffset[],
    { memberId, generation }: Standing,
    deadline: Deadline,
  ): Promise<CommitOutcome[]> {
    const what = `committing offsets of group ${this.#group}`
    const request = {
      groupId: this.#group,
      generationIdOrMemberEpoch: generation,
      memberId,
      groupInstanceId: this.#requests.groupInstanceId,
      topics: [...byTopic(offsets)].map(([name, list]) => ({
        name,
        partitions: list.map(({ partition, offset, leaderEpoch, metadata }) => ({
          partitionIndex: partition,
          committedOffset: offset,
          committedLeaderEpoch: leaderEpoch,
          committedMetadata: metadata,
        })),
      })),
    }
    const response = await this.#cluster.sendToCoordinator(this.#group, OffsetCommit, request, {
      deadline,
      maxVersion: BY_NAME,
      what,
      errorCodeOf: commitErrorOf,
    })
    const codes = new Map(
      response.topics.flatMap(({ name: topic, partitions }) =>
        partitions.map(({ partitionIndex: partition, errorCode }) => [partitionKey({ topic, partition }), errorCode]),
      ),
    )
    return offsets.map(({ topic, partition, offset }) => {
      const code = codes.get(partitionKey({ topic, partition })) ?? UNANSWERED
      return {
        topic,
        partition,
        offset,
        error: code === 0 ? undefined : toKafkaError(code, { what, topic, partition }),
      }
    })
  }
}

/** What a partition gets that the answer leaves out: something that trying again may heal. */
const UNANSWERED = 7

function fetchErrorOf({ errorCode, groups }: ResponseOf<typeof OffsetFetch>): number {
  return groups[0]?.errorCode || errorCode
}

/** The first error; those that mean the coordinator stand on every partition of the answer. */
function commitErrorOf({ topics }: ResponseOf<typeof OffsetCommit>): number {
  for (const { partitions } of topics) for (const { errorCode } of partitions) if (errorCode !== 0) return errorCode
  return 0
}
