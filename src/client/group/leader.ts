// What only the leader of a classic group does: read all subscriptions, look the topics up, assign, and notice when a topic has grown.
import { UsageError, type KafkaError } from '../../errors.js'
import type { Assignor, MemberSubscription } from '../../protocol/assignment/assignor.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'
import type { JoinedMember } from './membership/membership.js'
import { decodeSubscription, encodeAssignment } from '../../protocol/assignment/member-data.js'

export interface MemberAssignment {
  readonly memberId: string
  readonly assignment: Buffer
}

export class GroupLeader {
  readonly #cluster: Cluster
  readonly #assignors: readonly Assignor[]
  /** Partition counts as of the last assignment; -1 for a topic that did not exist. Empty while another member leads. */
  #assignedFor = new Map<string, number>()

  constructor(cluster: Cluster, assignors: readonly Assignor[]) {
    this.#cluster = cluster
    this.#assignors = assignors
  }

  async assign(members: readonly JoinedMember[], protocol: string, deadline: Deadline): Promise<MemberAssignment[]> {
    const assignor = this.#assignors.find(({ name }) => name === protocol)
    if (!assignor) {
      throw new UsageError(
        `the group chose the assignor ${protocol}, which this member did not offer`,
        'INCONSISTENT_GROUP_PROTOCOL',
      )
    }
    const subscriptions = members.map(({ memberId, instanceId, metadata }): MemberSubscription => {
      return { memberId, instanceId, ...decodeSubscription(metadata, memberId) }
    })
    const topics = [...new Set(subscriptions.flatMap((one) => one.topics))]
    const known = await this.#cluster.topics(topics, deadline, { missing: 'report' })
    const counts = new Map<string, number>()
    for (const topic of topics) {
      const metadata = known.get(topic)
      if (metadata && !metadata.error) counts.set(topic, metadata.partitions.length)
    }
    this.#assignedFor = new Map(topics.map((topic) => [topic, counts.get(topic) ?? -1]))
    return [...assignor.assign(subscriptions, counts)].map(([memberId, partitions]) => ({
      memberId,
      assignment: encodeAssignment(partitions),
    }))
  }

  /** Another member leads now. */
  resign(): void {
    this.#assignedFor = new Map()
  }

  /** Why the assignment does not fit the topics any more, if so. */
  get outdated(): string | undefined {
    for (const [topic, count] of this.#assignedFor) {
      const metadata = this.#cluster.cachedTopic(topic)
      if (!metadata || (metadata.error && !isGone(metadata.error))) continue
      const now = metadata.error ? -1 : metadata.partitions.length
      if (now !== count) return `topic ${topic} has ${Math.max(now, 0)} partitions now, not ${Math.max(count, 0)}`
    }
    return undefined
  }
}

function isGone(error: KafkaError): boolean {
  return error.code === 'UNKNOWN_TOPIC_OR_PARTITION'
}
