// Clients of one embedded broker, and what they leave there, for the tests of Admin.
import type { BrokerCluster } from '../../../src/broker/broker-cluster.js'
import { Admin, type AdminOptions } from '../../../src/client/admin/index.js'
import { GroupMember, type GroupMemberOptions } from '../../../src/client/group/index.js'
import { Producer } from '../../../src/client/producer/index.js'

export const fast = { retryBackoffMs: 5, retryBackoffMaxMs: 20, logger: 'silent' } as const

export function adminOf(kafka: BrokerCluster, options: Partial<AdminOptions> = {}): Admin {
  return new Admin({ brokers: kafka.brokers, ...fast, ...options })
}

/** A member that has joined and knows its partitions. */
export async function memberOf(
  kafka: BrokerCluster,
  group: string,
  options: Partial<GroupMemberOptions<string>> = {},
): Promise<GroupMember<string>> {
  const member = new GroupMember<string>({
    brokers: kafka.brokers,
    group,
    topics: ['orders'],
    from: 'beginning',
    clientId: `client of ${group}`,
    ...fast,
    ...options,
  })
  await member.ready()
  return member
}

/** Sends values 'v0', 'v1', … to one partition; the record's number is its timestamp, in seconds. */
export async function fill(kafka: BrokerCluster, count: number, topic = 'orders', partition = 0): Promise<void> {
  const producer = new Producer({ brokers: kafka.brokers, ...fast })
  try {
    await producer.send(
      Array.from({ length: count }, (_, i) => ({ topic, partition, value: `v${i}`, timestamp: 1000 * i })),
    )
  } finally {
    await producer.close()
  }
}

/** How often brokers were asked something. */
export function countOf(kafka: BrokerCluster, api: string): number {
  return kafka.requests.filter((entry) => entry.api === api).length
}
