// The bytes that members of a classic group exchange through JoinGroup and SyncGroup: subscription and assignment.
// On the wire each is preceded by its version as an int16, which is not part of the structs here.
import { array, bytes, int32, message, string } from '../wire/index.js'

export const ConsumerProtocolSubscription = message({
  name: 'ConsumerProtocolSubscription',
  versions: '0-3',
  flexible: 'none',
  fields: {
    topics: array(string),
    userData: bytes.nullable().default(null),
    // KIP-429: what the member has now, for cooperative rebalancing; its generation tells whose claim is the newer one (KIP-792).
    ownedPartitions: array({ topic: string, partitions: array(int32) })
      .in('1+')
      .ignorable(),
    generationId: int32.in('2+').default(-1).ignorable(),
    rackId: string.in('3+').nullable('3+').default(null).ignorable(),
  },
})

export const ConsumerProtocolAssignment = message({
  name: 'ConsumerProtocolAssignment',
  versions: '0-3',
  flexible: 'none',
  fields: {
    assignedPartitions: array({ topic: string, partitions: array(int32) }),
    userData: bytes.nullable().default(null),
  },
})
