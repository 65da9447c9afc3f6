// A partition log in memory: segments of contiguous batches, so that a fetch is a slice or two whatever the size of the batches.
// An index entry every few KiB finds a batch; the rest of the way goes from header to header.
import {
  batchHeaderSize,
  batchLengthAt,
  int32,
  int64,
  lastOffsetDeltaAt,
  lengthOverhead,
  maxTimestampAt,
} from '../../protocol/records/layout.js'
import type { LoggedBatch, LogSlice, PartitionLog } from './partition-log.js'

const smallestSegment = 4 << 10
const largestSegment = 1 << 20
/** A batch this large is a segment by itself, in the memory that it came in; smaller ones are copied together. */
const keptFromBytes = 32 << 10
const indexEveryBytes = 4 << 10

interface Segment {
  readonly baseOffset: number
  readonly buffer: Buffer
  bytes: number
  maxTimestamp: number
  /** Base offsets and positions of some batches, the first of the segment among them. */
  readonly offsets: number[]
  readonly positions: number[]
}

export class MemoryLog implements PartitionLog {
  readonly #segments: Segment[] = []
  #startOffset = 0
  #endOffset = 0
  #nextSegment = smallestSegment

  get startOffset(): number {
    return this.#startOffset
  }

  get endOffset(): number {
    return this.#endOffset
  }

  append(batches: Buffer): void {
    const segment = this.#segmentFor(batches)
    const { buffer, offsets, positions } = segment
    const from = segment.bytes
    if (buffer !== batches) buffer.set(batches, from)
    const end = from + batches.length
    let at = from
    while (at < end) {
      if (offsets.length === 0 || at - (positions[positions.length - 1] as number) >= indexEveryBytes) {
        offsets.push(int64(buffer, at))
        positions.push(at)
      }
      segment.maxTimestamp = Math.max(segment.maxTimestamp, int64(buffer, at + maxTimestampAt))
      this.#endOffset = lastOffsetAt(buffer, at) + 1
      at += sizeAt(buffer, at)
    }
    segment.bytes = end
  }

  #segmentFor(batches: Buffer): Segment {
    const last = this.#segments[this.#segments.length - 1]
    const isKept = batches.length >= keptFromBytes
    if (!isKept && last !== undefined && last.buffer.length - last.bytes >= batches.length) return last
    const segment: Segment = {
      baseOffset: int64(batches, 0),
      buffer: isKept ? batches : Buffer.allocUnsafeSlow(Math.max(this.#nextSegment, batches.length)),
      bytes: 0,
      maxTimestamp: -1,
      offsets: [],
      positions: [],
    }
    if (!isKept) this.#nextSegment = Math.min(2 * this.#nextSegment, largestSegment)
    this.#segments.push(segment)
    return segment
  }

  read(offset: number, maxBytes: number, atLeastOne: boolean): LogSlice {
    const chunks: Buffer[] = []
    let bytes = 0
    if (offset >= this.#endOffset) return { chunks, bytes }
    for (let s = this.#segmentIndex(offset); s < this.#segments.length; s++) {
      const segment = this.#segments[s] as Segment
      const from = chunks.length === 0 ? positionOf(segment, offset) : 0
      let to = boundaryBefore(segment, from, from + maxBytes - bytes)
      if (to === from && bytes === 0 && atLeastOne) to = from + sizeAt(segment.buffer, from)
      if (to > from) {
        chunks.push(segment.buffer.subarray(from, to))
        bytes += to - from
      }
      if (to < segment.bytes) break
    }
    return { chunks, bytes }
  }

  bytesFrom(offset: number): number {
    if (offset >= this.#endOffset) return 0
    let bytes = 0
    const first = this.#segmentIndex(offset)
    for (let s = this.#segments.length - 1; s > first; s--) bytes += (this.#segments[s] as Segment).bytes
    const segment = this.#segments[first] as Segment
    return bytes + segment.bytes - positionOf(segment, offset)
  }

  *batches(offset: number): IterableIterator<LoggedBatch> {
    if (offset >= this.#endOffset) return
    for (let s = this.#segmentIndex(offset); s < this.#segments.length; s++) {
      const segment = this.#segments[s] as Segment
      let at = segment.baseOffset > offset ? 0 : positionOf(segment, offset)
      for (; at < segment.bytes; at += sizeAt(segment.buffer, at)) yield batchAt(segment, at)
    }
  }

  *batchesSince(timestamp: number): IterableIterator<LoggedBatch> {
    for (const segment of this.#segments) {
      if (segment.maxTimestamp < timestamp) continue
      for (let at = 0; at < segment.bytes; at += sizeAt(segment.buffer, at)) {
        if (int64(segment.buffer, at + maxTimestampAt) < timestamp) continue
        if (lastOffsetAt(segment.buffer, at) >= this.#startOffset) yield batchAt(segment, at)
      }
    }
  }

  batchOfLargestTimestamp(): LoggedBatch | undefined {
    let largest = -1
    let found: LoggedBatch | undefined
    for (const batch of this.batches(this.#startOffset)) {
      const timestamp = int64(batch.bytes, maxTimestampAt)
      if (timestamp <= largest) continue
      largest = timestamp
      found = batch
    }
    return found
  }

  advanceStart(offset: number): void {
    if (offset <= this.#startOffset) return
    this.#startOffset = offset
    while (this.#segments.length > 1 && (this.#segments[1] as Segment).baseOffset <= offset) {
      this.#segments.shift()
    }
    if (offset >= this.#endOffset) this.#segments.length = 0
  }

  /** The last segment that begins at or before the offset. */
  #segmentIndex(offset: number): number {
    let low = 0
    let high = this.#segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#segments[middle] as Segment).baseOffset <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}

function sizeAt(buffer: Buffer, at: number): number {
  return int32(buffer, at + batchLengthAt) + lengthOverhead
}

function lastOffsetAt(buffer: Buffer, at: number): number {
  return int64(buffer, at) + int32(buffer, at + lastOffsetDeltaAt)
}

function batchAt({ buffer }: Segment, at: number): LoggedBatch {
  const size = Math.max(sizeAt(buffer, at), batchHeaderSize)
  return { baseOffset: int64(buffer, at), lastOffset: lastOffsetAt(buffer, at), bytes: buffer.subarray(at, at + size) }
}

/** The position of the first batch whose last offset is at or after `offset`. */
function positionOf({ offsets, positions, buffer, bytes }: Segment, offset: number): number {
  let at = positions[lastAtMost(offsets, offset)] ?? 0
  while (at < bytes && lastOffsetAt(buffer, at) < offset) at += sizeAt(buffer, at)
  return at
}

/** The largest end of a batch, not before `from` (itself a boundary) and not after `limit`. */
function boundaryBefore({ positions, buffer, bytes }: Segment, from: number, limit: number): number {
  if (limit >= bytes) return bytes
  let at = Math.max(from, positions[lastAtMost(positions, limit)] ?? 0)
  for (let next = at + sizeAt(buffer, at); next <= limit; next += sizeAt(buffer, next)) at = next
  return at
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((sorted[middle] as number) <= value) low = middle
    else high = middle - 1
  }
  return low
}
