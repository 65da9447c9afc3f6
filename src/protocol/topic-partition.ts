// A partition of a topic, as both sides name it.

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** `orders-3`: unique, since the digits behind the last dash are always the partition. */
export function partitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}

/** By topic name, then by number. */
export function comparePartitions(a: TopicPartition, b: TopicPartition): number {
  return compareText(a.topic, b.topic) || a.partition - b.partition
}

/** By UTF-16 code units, as Java's String.compareTo. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Grouped by topic, in the order of their coming, as most requests want them. */
export function byTopic<One extends TopicPartition>(partitions: Iterable<One>): Map<string, One[]> {
  const topics = new Map<string, One[]>()
  for (const one of partitions) {
    const known = topics.get(one.topic)
    if (known) known.push(one)
    else topics.set(one.topic, [one])
  }
  return topics
}
