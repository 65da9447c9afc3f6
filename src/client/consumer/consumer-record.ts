// What a consumer gives out: records, which are views into the fetched bytes, and batches of them.
import { RecordError } from '../../errors.js'
import { RecordView } from '../../protocol/records/record.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'

/** How the keys and values of a topic are decoded; undefined: they are given out as bytes. Never called for null. */
export interface RecordSerdes {
  readonly key: ((bytes: Buffer) => unknown) | undefined
  readonly value: ((bytes: Buffer) => unknown) | undefined
}

/** What all records of a partition share, from one assignment or seek to the next. */
export interface FeedSource extends TopicPartition {
  readonly serdes: RecordSerdes
  readonly onDone: ((source: FeedSource, offset: number, leaderEpoch: number) => void) | undefined
}

/**
 * A record as it was fetched. Key, value and headers are decoded when they are asked for, the first two once. Bytes are views of the
 * whole answer of the broker: use {@link ConsumerRecord.copy} for a record that is kept for long.
 *
 * Without a typed topic, key and value are `Buffer | null`; null is no key, or a tombstone.
 */
export class ConsumerRecord<K = Buffer | null, V = Buffer | null> extends RecordView<K, V, FeedSource> {
  #key: K | undefined = undefined
  #value: V | undefined = undefined

  /** @throws {RecordError} DESERIALIZATION_FAILED, with what the serde threw as its cause */
  override get key(): K {
    return (this.#key ??= this.#decoded('key', this.keyBytes, this.batch.where.serdes.key) as K)
  }

  /** @throws {RecordError} DESERIALIZATION_FAILED, with what the serde threw as its cause */
  override get value(): V {
    return (this.#value ??= this.#decoded('value', this.valueBytes, this.batch.where.serdes.value) as V)
  }

  /** Bytes of key, value and headers. */
  get sizeInBytes(): number {
    return this.end - this.keyStart
  }

  /**
   * Marks this record, and all before it in its partition, as done. In a GroupMember asking for the next record does that too, but
   * `break` does not; in a Consumer it means nothing.
   */
  done(): void {
    const { where } = this.batch
    where.onDone?.(where, this.offset, this.leaderEpoch)
  }

  /** @internal */
  get source(): FeedSource {
    return this.batch.where
  }

  #decoded(what: string, bytes: Buffer | null, decode: ((bytes: Buffer) => unknown) | undefined): unknown {
    if (bytes === null || decode === undefined) return bytes
    try {
      return decode(bytes)
    } catch (cause) {
      const { topic, partition, offset } = this
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new RecordError(
        `the ${what} of the record at ${topic}-${partition} offset ${offset} cannot be decoded: ${reason}`,
        {
          code: 'DESERIALIZATION_FAILED',
          topic,
          partition,
          offset,
          nextOffset: offset + 1,
          cause,
        },
      )
    }
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the top of all records, whatever their serdes
export type AnyRecord = ConsumerRecord<any, any>

/** Records of one partition, in order, at least one. */
export class ConsumerBatch<R extends AnyRecord = ConsumerRecord> implements Iterable<R> {
  readonly topic: string
  readonly partition: number
  readonly records: readonly R[]

  constructor(records: readonly R[]) {
    const { topic, partition } = records[0]!
    this.topic = topic
    this.partition = partition
    this.records = records
  }

  get length(): number {
    return this.records.length
  }

  get firstOffset(): number {
    return this.records[0]!.offset
  }

  get lastOffset(): number {
    return this.records[this.records.length - 1]!.offset
  }

  /** Marks all of its records as done; see {@link ConsumerRecord.done}. */
  done(): void {
    this.records[this.records.length - 1]!.done()
  }

  [Symbol.iterator](): Iterator<R> {
    return this.records[Symbol.iterator]()
  }
}
