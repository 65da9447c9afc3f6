// The partitioners by the names that the option has.
import { KeyHash } from './key-hash.js'
import { OwnFunction } from './own-function.js'
import type { Partitioner, PartitionFunction } from './partitioner.js'
import { RoundRobin } from './round-robin.js'
import { Sticky } from './sticky.js'

export const partitionerNames = ['keyHash', 'roundRobin', 'sticky'] as const

export type PartitionerName = (typeof partitionerNames)[number]

export type { Partitioner, PartitionFunction, PartitionRequest, PartitionsView } from './partitioner.js'
export { partitionOfKey } from './key-hash.js'

/** A new one for each topic. */
export function partitionerOf(choice: PartitionerName | PartitionFunction): Partitioner {
  if (typeof choice === 'function') return new OwnFunction(choice)
  switch (choice) {
    case 'keyHash':
      return new KeyHash()
    case 'roundRobin':
      return new RoundRobin()
    case 'sticky':
      return new Sticky()
  }
}
