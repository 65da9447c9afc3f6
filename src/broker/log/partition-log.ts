// A partition's log as the rest of the broker sees it: whole batches, already checked and patched, in the order of their offsets.
// Storage only: no validation, no producer state, no waiting.

/** A batch as it lies in the log: a view, not to be changed. */
export interface LoggedBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly bytes: Buffer
}

export interface LogSlice {
  /** Whole batches in order, without copies; none when nothing fits or the offset is the end. */
  readonly chunks: readonly Buffer[]
  readonly bytes: number
}

export interface PartitionLog {
  /** The first offset that may be read. */
  readonly startOffset: number
  /** The offset that the next record gets. */
  readonly endOffset: number

  /** Adds batches that follow the log's end without overlap. The log may keep the bytes: they must not change afterwards. */
  append(batches: Buffer): void

  /**
   * The batches from the one that holds `offset`, `maxBytes` at most; the first is given whatever its size if `atLeastOne`.
   * `offset` must be within startOffset and endOffset.
   */
  read(offset: number, maxBytes: number, atLeastOne: boolean): LogSlice

  /** The bytes that read() could give from `offset`, without giving them. */
  bytesFrom(offset: number): number

  /** The batches from the one that holds `offset` on, one by one. */
  batches(offset: number): IterableIterator<LoggedBatch>

  /** The batches, from startOffset's on, with a timestamp of at least `timestamp`. */
  batchesSince(timestamp: number): IterableIterator<LoggedBatch>

  /** The first of the batches with the largest timestamp. */
  batchOfLargestTimestamp(): LoggedBatch | undefined

  /** Moves the start forward; whole batches before it are dropped. */
  advanceStart(offset: number): void
}
