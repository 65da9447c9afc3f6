// What is really in the log of a topic, decoded for tests: plain values, copies of the moment.
import { UsageError } from '../errors.js'
import { splitBatches, recordsOf, type Header, type RecordBatch } from '../protocol/records/index.js'
import type { Partition, Topic } from './topic.js'

/** A record as it lies in the log. */
export interface LoggedRecord {
  readonly partition: number
  readonly offset: number
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
  readonly leaderEpoch: number
  /** -1 when the producer was not idempotent. */
  readonly producerId: number
  readonly producerEpoch: number
  /** The record's own sequence, -1 when it has none. */
  readonly sequence: number
}

/** A batch as it lies in the log, without its records. */
export interface LoggedBatchInfo {
  readonly partition: number
  readonly baseOffset: number
  readonly lastOffset: number
  readonly recordCount: number
  /** The codec's name, or none. */
  readonly compression: string
  readonly sizeInBytes: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly leaderEpoch: number
}

/** A topic of the embedded cluster, as `kafka.topic(name)` gives it. */
export class TopicInspection {
  readonly #topic: Topic

  /** @internal */
  constructor(topic: Topic) {
    this.#topic = topic
  }

  get name(): string {
    return this.#topic.name
  }

  get id(): string {
    return this.#topic.id
  }

  get partitionCount(): number {
    return this.#topic.partitions.length
  }

  /** Every record, by partition and offset; of one partition if it is given. @throws {UsageError} when there is no such partition */
  async records(partition?: number): Promise<LoggedRecord[]> {
    return this.#batches(partition).flatMap(({ index, batch, startOffset }) =>
      recordsOf(batch).flatMap((record, i) => {
        if (record.offset < startOffset) return []
        const { producerId, producerEpoch, baseSequence } = batch
        return {
          partition: index,
          offset: record.offset,
          timestamp: record.timestamp,
          key: copied(record.keyBytes),
          value: copied(record.valueBytes),
          headers: record.headers.map(({ key, value }) => ({ key, value: copied(value) })),
          leaderEpoch: record.leaderEpoch,
          producerId,
          producerEpoch,
          sequence: baseSequence < 0 ? -1 : (baseSequence + i) % 2 ** 31,
        }
      }),
    )
  }

  /** The batches as they lie in the log; of one partition if it is given. @throws {UsageError} when there is no such partition */
  async batches(partition?: number): Promise<LoggedBatchInfo[]> {
    return this.#batches(partition).map(({ index, batch }) => ({
      partition: index,
      baseOffset: batch.baseOffset,
      lastOffset: batch.lastOffset,
      recordCount: batch.recordCount,
      compression: batch.codec.name,
      sizeInBytes: batch.sizeInBytes,
      producerId: batch.producerId,
      producerEpoch: batch.producerEpoch,
      baseSequence: batch.baseSequence,
      leaderEpoch: batch.leaderEpoch,
    }))
  }

  /** Forgets the records of a partition before an offset, as retention would. @throws {UsageError} when the partition does not have it */
  async deleteBefore(partition: number, offset: number): Promise<void> {
    const found = this.#partition(partition)
    if (!Number.isInteger(offset) || offset < 0 || offset > found.log.endOffset) {
      throw new UsageError(`offset must be 0-${found.log.endOffset}, got ${offset}`)
    }
    found.deleteBefore(offset)
  }

  /** The first and the next offset of each partition, with its leader. */
  partitions(): { partition: number; startOffset: number; endOffset: number; leader: number; leaderEpoch: number }[] {
    return this.#topic.partitions.map(({ index, log, leaderId, leaderEpoch }) => ({
      partition: index,
      startOffset: log.startOffset,
      endOffset: log.endOffset,
      leader: leaderId,
      leaderEpoch,
    }))
  }

  #partition(index: number): Partition {
    const found = this.#topic.partitions[index]
    if (found) return found
    throw new UsageError(`there is no partition ${this.name}-${index}; there are 0-${this.partitionCount - 1}`)
  }

  #batches(partition: number | undefined): { index: number; startOffset: number; batch: RecordBatch }[] {
    const chosen = partition === undefined ? this.#topic.partitions : [this.#partition(partition)]
    return chosen.flatMap((p) =>
      p.log
        .read(p.log.startOffset, Number.MAX_SAFE_INTEGER, true)
        .chunks.flatMap((chunk) => splitBatches(chunk, p.source))
        .map((batch) => ({ index: p.index, startOffset: p.log.startOffset, batch })),
    )
  }
}

function copied(bytes: Buffer | null): Buffer | null {
  return bytes && Buffer.from(bytes)
}
