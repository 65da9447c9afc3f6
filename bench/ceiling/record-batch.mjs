// Record batches written and read with as little JavaScript as will do: what the speed ceiling consists of. One kind of record,
// without headers and compression; it is what ottla's own code is measured by, and shares none of it.

const BATCH_HEADER = 61

// Length of a zigzag varint for values >= 0 (for which zigzag is doubling).
const varintLength = (v) => (v < 0x40 ? 1 : v < 0x2000 ? 2 : v < 0x100000 ? 3 : v < 0x8000000 ? 4 : 5)

// attributes, timestamp delta (always 0 here), offset delta, key or its absence, value, header count
function recordLength(record, offsetDelta) {
  const { key, value } = record
  const keyPart = key === undefined ? 1 : varintLength(key.length) + key.length
  return 3 + varintLength(offsetDelta) + keyPart + varintLength(value.length) + value.length
}

// The exact size of a batch, so that it can be written once, in place, with nothing copied or moved afterwards.
export function batchLength(records) {
  let total = BATCH_HEADER
  for (let i = 0; i < records.length; i++) {
    const length = recordLength(records[i], i)
    total += varintLength(length) + length
  }
  return total
}

function putVarint(buf, at, v) {
  v <<= 1
  while (v >= 0x80) {
    buf[at++] = (v & 0x7f) | 0x80
    v >>>= 7
  }
  buf[at++] = v
  return at
}
function putBytes(buf, at, bytes) {
  buf.set(bytes, at)
  return at + bytes.length
}

// Writes the batch into `buf` at `at` and returns its end.
export function writeBatch(buf, at, records, length, timestamp, crc) {
  const count = records.length
  buf.fill(0, at, at + BATCH_HEADER)
  buf.writeInt32BE(length - 12, at + 8)
  buf.writeInt32BE(-1, at + 12) // leader epoch
  buf[at + 16] = 2 // magic
  buf.writeInt32BE(count - 1, at + 23)
  const high = Math.floor(timestamp / 0x100000000),
    low = timestamp >>> 0 // an int64 as two words: no BigInt
  buf.writeUInt32BE(high, at + 27)
  buf.writeUInt32BE(low, at + 31)
  buf.writeUInt32BE(high, at + 35)
  buf.writeUInt32BE(low, at + 39)
  buf.fill(0xff, at + 43, at + 57) // no producer id, epoch, sequence
  buf.writeInt32BE(count, at + 57)
  let p = at + BATCH_HEADER
  for (let i = 0; i < count; i++) {
    const record = records[i]
    const { key, value } = record
    p = putVarint(buf, p, recordLength(record, i))
    buf[p++] = 0 // attributes
    buf[p++] = 0 // timestamp delta
    p = putVarint(buf, p, i)
    if (key === undefined)
      buf[p++] = 1 // -1
    else p = putBytes(buf, putVarint(buf, p, key.length), key)
    p = putBytes(buf, putVarint(buf, p, value.length), value)
    buf[p++] = 0 // headers
  }
  buf.writeUInt32BE(crc(buf, at + 21, p), at + 17)
  return p
}

// A record is a view: two numbers per field, all set in the constructor so that every record has one hidden class, and a
// getter that makes the Buffer when it is asked for. It keeps its whole response frame in memory.
class RecordView {
  constructor(frame, keyStart, keyEnd, valueStart, valueEnd, offset, timestamp) {
    this.frame = frame
    this.keyStart = keyStart
    this.keyEnd = keyEnd
    this.valueStart = valueStart
    this.valueEnd = valueEnd
    this.offset = offset
    this.timestamp = timestamp
  }

  get key() {
    return this.keyEnd < this.keyStart ? null : this.frame.subarray(this.keyStart, this.keyEnd)
  }
  get value() {
    return this.frame.subarray(this.valueStart, this.valueEnd)
  }
}

const int32 = (b, p) => (b[p] << 24) | (b[p + 1] << 16) | (b[p + 2] << 8) | b[p + 3]
const int64 = (b, p) => int32(b, p) * 0x100000000 + (int32(b, p + 4) >>> 0) // exact to 2^53

// The offset after the last whole batch in frame[p..end), from batch headers alone: enough to send the next fetch before
// anything is decoded.
export function nextOffset(frame, p, end, otherwise) {
  let next = otherwise
  while (p + BATCH_HEADER <= end) {
    const length = int32(frame, p + 8) + 12
    if (p + length > end) break
    next = int64(frame, p) + int32(frame, p + 23) + 1
    p += length
  }
  return next
}

// The records of all whole batches in frame[p..end). Varints are read inline: a reader object or a returned pair per field
// would cost more than the field.
export function readBatches(frame, p, end, crc) {
  const records = []
  while (p + BATCH_HEADER <= end) {
    const batchEnd = p + int32(frame, p + 8) + 12
    if (batchEnd > end) break // the broker cut the last batch
    if (crc(frame, p + 21, batchEnd) !== int32(frame, p + 17) >>> 0) throw new Error('CRC of a batch does not match')
    const baseOffset = int64(frame, p),
      baseTimestamp = int64(frame, p + 27),
      count = int32(frame, p + 57)
    let q = p + BATCH_HEADER
    for (let i = 0; i < count; i++) {
      let c,
        v = 0,
        shift = 0
      do {
        c = frame[q++]
        v |= (c & 0x7f) << shift
        shift += 7
      } while (c & 0x80)
      const recordEnd = q + (v >>> 1)
      q++ // attributes
      v = 0
      shift = 0
      do {
        c = frame[q++]
        v |= (c & 0x7f) << shift
        shift += 7
      } while (c & 0x80)
      const timestampDelta = (v >>> 1) ^ -(v & 1)
      v = 0
      shift = 0
      do {
        c = frame[q++]
        v |= (c & 0x7f) << shift
        shift += 7
      } while (c & 0x80)
      const offsetDelta = v >>> 1
      v = 0
      shift = 0
      do {
        c = frame[q++]
        v |= (c & 0x7f) << shift
        shift += 7
      } while (c & 0x80)
      const keyLength = (v >>> 1) ^ -(v & 1),
        keyStart = q
      if (keyLength > 0) q += keyLength
      v = 0
      shift = 0
      do {
        c = frame[q++]
        v |= (c & 0x7f) << shift
        shift += 7
      } while (c & 0x80)
      records.push(
        new RecordView(
          frame,
          keyStart,
          keyStart + keyLength,
          q,
          q + (v >>> 1),
          baseOffset + offsetDelta,
          baseTimestamp + timestampDelta,
        ),
      )
      q = recordEnd
    }
    p = batchEnd
  }
  return records
}
