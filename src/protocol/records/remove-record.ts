// Takes one record out of the records of an open batch, in place: for a send that was aborted before its batch was drained.
import { putVarint, varintSize } from './layout.js'

/**
 * Removes record `index` from `buffer[start..end)`, whose offset deltas count from 0. Returns where the records end now, and
 * the largest timestamp delta left (0 when none is left).
 */
export function removeRecord(
  buffer: Buffer,
  start: number,
  end: number,
  index: number,
): { end: number; maxTimestampDelta: number } {
  let maxTimestampDelta = Number.NEGATIVE_INFINITY
  let at = start
  let to = start
  for (let i = 0; at < end; i++) {
    const length = readVarlong(buffer, at)
    const bodyAt = length.next
    const next = bodyAt + length.value
    const timestampDelta = readVarlong(buffer, bodyAt + 1)
    if (i !== index && timestampDelta.value > maxTimestampDelta) maxTimestampDelta = timestampDelta.value
    if (i < index) to = next
    else if (i > index) {
      // The delta shrinks by one, and so perhaps does the record; what is written never overtakes what is read.
      const rest = timestampDelta.next + varintSize(i)
      const headLength = timestampDelta.next - bodyAt
      const shrunk = varintSize(i) - varintSize(i - 1)
      to = putVarint(buffer, to, length.value - shrunk)
      buffer.copyWithin(to, bodyAt, timestampDelta.next)
      to = putVarint(buffer, to + headLength, i - 1)
      buffer.copyWithin(to, rest, next)
      to += next - rest
    }
    at = next
  }
  return { end: to, maxTimestampDelta: Number.isFinite(maxTimestampDelta) ? maxTimestampDelta : 0 }
}

function readVarlong(buffer: Buffer, p: number): { value: number; next: number } {
  let value = 0
  let factor = 1
  for (;;) {
    const byte = buffer[p++]!
    value += (byte & 0x7f) * factor
    if (byte < 0x80) break
    factor *= 128
  }
  return { value: value % 2 === 0 ? value / 2 : -(value + 1) / 2, next: p }
}
