// Where Kafka's Java client puts a key: murmur2 with its seed, without the sign.
const M = 0x5bd1e995

function murmur2(bytes) {
  const length = bytes.length
  let h = 0x9747b28c ^ length
  let i = 0
  for (; i + 4 <= length; i += 4) {
    let k = Math.imul(bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24), M)
    k = Math.imul(k ^ (k >>> 24), M)
    h = Math.imul(h, M) ^ k
  }
  const rest = length - i
  if (rest > 2) h ^= bytes[i + 2] << 16
  if (rest > 1) h ^= bytes[i + 1] << 8
  if (rest > 0) h = Math.imul(h ^ bytes[i], M)
  h = Math.imul(h ^ (h >>> 13), M)
  return h ^ (h >>> 15)
}

export const partitionOf = (key, partitions) => (murmur2(key) & 0x7fffffff) % partitions
