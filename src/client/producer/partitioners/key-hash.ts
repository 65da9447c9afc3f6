// The partition of a key as the Java client has it: murmur2 over the key's bytes, without the sign, modulo the partitions.
// Records without a key go where the sticky partitioner says.
import murmurhash from 'murmurhash'
import type { BytesInput } from '../../../protocol/records/batch-builder.js'
import type { Partitioner, PartitionsView } from './partitioner.js'
import { Sticky } from './sticky.js'

const seed = 0x9747b28c
/** Keys up to this length are encoded into memory that is used again. */
const reusedLength = 64
const reused: Buffer[] = []

export class KeyHash implements Partitioner {
  readonly #sticky = new Sticky()
  #hadKey = false

  choose(key: BytesInput, value: BytesInput, partitions: PartitionsView): number {
    this.#hadKey = key !== null
    return key === null ? this.#sticky.choose(key, value, partitions) : partitionOfKey(key, partitions.count)
  }

  wrote(partition: number, bytes: number): void {
    if (!this.#hadKey) this.#sticky.wrote(partition, bytes)
  }
}

/** Where the Java client puts a record with this key. */
export function partitionOfKey(key: string | Uint8Array, partitionCount: number): number {
  return (murmurhash.v2(typeof key === 'string' ? encoded(key) : key, seed) & 0x7fffffff) % partitionCount
}

function encoded(key: string): Uint8Array {
  const { length } = key
  if (length > reusedLength) return Buffer.from(key)
  const bytes = (reused[length] ??= Buffer.allocUnsafeSlow(length))
  for (let i = 0; i < length; i++) {
    const code = key.charCodeAt(i)
    if (code >= 0x80) return Buffer.from(key)
    bytes[i] = code
  }
  return bytes
}
