// What members of a classic group tell each other, in Kafka's own consumer protocol: their subscriptions, and their assignments.
import { KafkaError } from '../../errors.js'
import type { MemberSubscription } from './assignor.js'
import { ConsumerProtocolAssignment, ConsumerProtocolSubscription } from '../messages/consumer-protocol.js'
import { byTopic, type TopicPartition } from '../topic-partition.js'
import { Reader, Writer, type Fields, type InOf, type Message, type OutOf } from '../wire/index.js'

/** The protocol type of all groups of consumers. */
export const CONSUMER_PROTOCOL = 'consumer'

export type Subscription = Pick<MemberSubscription, 'topics' | 'owned' | 'generation'>

export function encodeSubscription({ topics, owned, generation }: Subscription): Buffer {
  const userData = Buffer.alloc(4)
  userData.writeInt32BE(generation) // where Java's cooperative-sticky kept it before the subscription had a field (KIP-792)
  return encode(ConsumerProtocolSubscription, {
    topics: [...topics].sort(),
    userData,
    ownedPartitions: packed(owned),
    generationId: generation,
  })
}

export function decodeSubscription(bytes: Buffer, memberId: string): Subscription {
  const { value, version } = decode(ConsumerProtocolSubscription, bytes, `the subscription of member ${memberId}`)
  const { topics, ownedPartitions, userData, generationId } = value
  const inUserData = userData?.length === 4 ? userData.readInt32BE() : -1
  return { topics, owned: flat(ownedPartitions), generation: version >= 2 ? generationId : inUserData }
}

export function encodeAssignment(partitions: readonly TopicPartition[]): Buffer {
  return encode(ConsumerProtocolAssignment, { assignedPartitions: packed(partitions) })
}

/** No bytes at all is an assignment of nothing: that is what a member gets whom the leader did not know. */
export function decodeAssignment(bytes: Buffer): TopicPartition[] {
  if (bytes.length === 0) return []
  return flat(decode(ConsumerProtocolAssignment, bytes, 'the assignment').value.assignedPartitions)
}

function encode<F extends Fields>(message: Message<F>, value: InOf<F>): Buffer {
  const version = message.versions.max
  const writer = new Writer()
  writer.int16(version)
  message.write(writer, version, value)
  return Buffer.concat(writer.finish())
}

/** A newer version than ours begins with the fields that we know, by the rules of this protocol. */
function decode<F extends Fields>(
  message: Message<F>,
  bytes: Buffer,
  what: string,
): { value: OutOf<F>; version: number } {
  try {
    const reader = new Reader(bytes)
    const version = Math.min(reader.int16(), message.versions.max)
    return { value: message.read(reader, version), version }
  } catch (cause) {
    throw new KafkaError(`${what} cannot be read; do all members of the group speak Kafka's consumer protocol?`, {
      code: 'INCONSISTENT_GROUP_PROTOCOL',
      cause,
    })
  }
}

interface TopicPartitions {
  readonly topic: string
  readonly partitions: readonly number[]
}

function packed(partitions: readonly TopicPartition[]): TopicPartitions[] {
  return [...byTopic(partitions)].map(([topic, list]) => ({
    topic,
    partitions: list.map(({ partition }) => partition),
  }))
}

function flat(topics: readonly TopicPartitions[]): TopicPartition[] {
  return topics.flatMap(({ topic, partitions }) => partitions.map((partition) => ({ topic, partition })))
}
