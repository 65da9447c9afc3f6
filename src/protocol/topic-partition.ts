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
