// What single configs allow, where both a topic and a broker have them.
import { listOf, oneOf, type ConfigValue } from './definition.js'

export const policies = listOf('compact', 'delete')
export const codecs = oneOf('uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer')
export const timestampTypes = oneOf('CreateTime', 'LogAppendTime')
export const protocols = oneOf('PLAINTEXT')

export function gzipLevel(value: ConfigValue): string | undefined {
  const level = Number(value)
  return level === -1 || (level >= 1 && level <= 9) ? undefined : 'Value must be between 1 and 9 or equal to -1'
}

export function throttledReplicas(value: ConfigValue): string | undefined {
  const items = value as readonly string[]
  const isLegal = items.every((item) => item === '*' || /^\d+:\d+$/.test(item))
  return isLegal ? undefined : 'value must be the literal * or a list of replicas in the form [partitionId]:[brokerId]'
}

export function notTiered(value: ConfigValue): string | undefined {
  return value === false ? undefined : 'Tiered Storage functionality is disabled in the broker'
}
