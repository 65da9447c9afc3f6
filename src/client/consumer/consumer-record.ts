// What a consumer gives out: records, which are views into the fetched bytes, and batches of them.

/** How the key and value of a topic's records are decoded; never called for null. */
export interface RecordSerdes {
  key(bytes: Buffer): unknown
  value(bytes: Buffer): unknown
}

export interface RecordHeader {
  readonly key: string
  readonly value: Buffer | null
}

export declare class ConsumerRecord<K = Buffer | null, V = Buffer | null> {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** Milliseconds since the epoch; -1 if the producer gave none. */
  readonly timestamp: number
  readonly key: K
  readonly value: V
  readonly headers: readonly RecordHeader[]
  readonly leaderEpoch: number
  /** In a GroupMember: this record and all before it of its partition are done and may be committed. */
  done(): void
}

/** Records of one partition in order. */
export declare class ConsumerBatch<R> implements Iterable<R> {
  readonly topic: string
  readonly partition: number
  readonly records: readonly R[]
  done(): void
  [Symbol.iterator](): Iterator<R>
}
