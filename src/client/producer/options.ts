// The options of a producer: what they are for the user, their checks and defaults, and what one of them says about another.
import { UsageError } from '../../errors.js'
import { codecNames } from '../../protocol/records/compression/index.js'
import {
  boolean,
  integer,
  oneOf,
  option,
  optional,
  resolveOptions,
  type Check,
  type Resolved,
} from '../../util/options.js'
import { clientOptions, type ClientOptions } from '../cluster/index.js'
import { partitionerNames, type PartitionerName, type PartitionFunction } from './partitioners/index.js'

export type Acks = 'all' | -1 | 1 | 0
export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

export interface ProducerOptions extends ClientOptions {
  /**
   * When a record counts as written: when all in-sync replicas have it ('all' or -1), when the leader has it (1), or when it has
   * left (0: nothing is known of it then, its offset is -1). @default 'all'
   */
  readonly acks?: Acks | undefined
  /**
   * Whether the brokers drop what a retry writes twice and keep the order. Needs acks 'all'.
   * @default true with acks 'all', else false
   */
  readonly idempotent?: boolean | undefined
  /** @default 'none' */
  readonly compression?: Compression | undefined
  /**
   * Where records without a partition go: by the hash of the key, as the Java client does it, and without a key by turns of 16 KiB
   * ('keyHash'); one partition after another ('roundRobin'); by turns of 16 KiB whatever the key ('sticky'); or where a function says.
   * @default 'keyHash'
   */
  readonly partitioner?: PartitionerName | PartitionFunction | undefined
  /**
   * Milliseconds that a record may wait for others to share its batch. With 0 a batch goes at the end of the turn of the event loop
   * that began it, or as soon as fewer than five requests are in flight. @default 0
   */
  readonly lingerMs?: number | undefined
  /** Bytes, before compression, after which a batch takes no more records. @default 262144 */
  readonly batchBytes?: number | undefined
  /** Bytes that may be here without an outcome. A send() that would exceed it waits, in order. @default 33554432 */
  readonly bufferBytes?: number | undefined
  /** Milliseconds from send() until a record is delivered or has failed, retries and all waits included. @default 120000 */
  readonly deliveryTimeoutMs?: number | undefined
}

const acks: Check<number> = (value, fail) => {
  if (value === 'all') return -1
  return value === -1 || value === 0 || value === 1 ? value : fail("'all', -1, 1 or 0")
}

const partitioner: Check<PartitionerName | PartitionFunction> = (value, fail) => {
  if (typeof value === 'function') return value as PartitionFunction
  if ((partitionerNames as readonly unknown[]).includes(value)) return value as PartitionerName
  return fail(`one of ${partitionerNames.map((name) => `'${name}'`).join(', ')}, or a function`)
}

const dayMs = 86_400_000

const producerOptions = {
  ...clientOptions,
  acks: option(acks, -1),
  idempotent: optional(boolean),
  compression: option(oneOf(...codecNames), 'none' as const),
  partitioner: option(partitioner, () => 'keyHash' as const),
  lingerMs: option(integer(0, dayMs), 0),
  batchBytes: option(integer(1, 2 ** 30), 262_144),
  bufferBytes: option(integer(1024, 2 ** 31), 33_554_432),
  deliveryTimeoutMs: option(integer(1, 7 * dayMs), 120_000),
}

export type ProducerConfig = Omit<Resolved<typeof producerOptions>, 'idempotent'> & { readonly idempotent: boolean }

export function resolveProducerOptions(given: ProducerOptions): ProducerConfig {
  const config = resolveOptions('Producer', given, producerOptions)
  const { acks, idempotent = acks === -1, lingerMs, deliveryTimeoutMs } = config
  if (idempotent && acks !== -1) {
    throw new UsageError(`Producer: acks must be 'all' or -1 for an idempotent producer, got ${acks}`, 'INVALID_OPTION')
  }
  if (lingerMs >= deliveryTimeoutMs) {
    const message = `Producer: lingerMs must be less than deliveryTimeoutMs (${deliveryTimeoutMs}), got ${lingerMs}`
    throw new UsageError(message, 'INVALID_OPTION')
  }
  return { ...config, idempotent }
}
