// The committed offsets of one group, and when they expire. Whether a commit is allowed is for others to say.

export interface CommittedOffset {
  readonly offset: number
  /** -1 when the client did not say. */
  readonly leaderEpoch: number
  readonly metadata: string
  /** Milliseconds since the Unix epoch. */
  readonly committedAt: number
  /** Set only by clients of before Kafka 2.1, which name a retention of their own. */
  readonly expiresAt: number | null
}

export class CommittedOffsets {
  readonly #topics = new Map<string, Map<number, CommittedOffset>>()

  get isEmpty(): boolean {
    return this.#topics.size === 0
  }

  get(topic: string, partition: number): CommittedOffset | undefined {
    return this.#topics.get(topic)?.get(partition)
  }

  set(topic: string, partition: number, committed: CommittedOffset): void {
    let partitions = this.#topics.get(topic)
    if (!partitions) this.#topics.set(topic, (partitions = new Map<number, CommittedOffset>()))
    partitions.set(partition, committed)
  }

  delete(topic: string, partition: number): void {
    const partitions = this.#topics.get(topic)
    if (!partitions) return
    partitions.delete(partition)
    if (partitions.size === 0) this.#topics.delete(topic)
  }

  deleteTopic(topic: string): void {
    this.#topics.delete(topic)
  }

  /** All topics, each with its partitions in the order of their first commit. */
  topics(): IterableIterator<[string, ReadonlyMap<number, CommittedOffset>]> {
    return this.#topics.entries()
  }

  /** Drops what `isExpired` says; returns whether nothing is left. */
  expire(isExpired: (topic: string, committed: CommittedOffset) => boolean): boolean {
    for (const [topic, partitions] of this.#topics) {
      for (const [partition, committed] of partitions) if (isExpired(topic, committed)) partitions.delete(partition)
      if (partitions.size === 0) this.#topics.delete(topic)
    }
    return this.isEmpty
  }
}
