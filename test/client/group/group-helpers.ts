// A group member for tests: quick to beat and to try again, and without a log.
import type { BrokerCluster } from '../../../src/broker.js'
import { GroupMember, type GroupMemberOptions } from '../../../src/client/group/index.js'

export function memberOf(kafka: BrokerCluster, options: Partial<GroupMemberOptions<string>> = {}): GroupMember {
  return new GroupMember({
    brokers: kafka.brokers,
    group: 'billing',
    topics: ['orders'],
    from: 'beginning',
    heartbeatMs: 20,
    retryBackoffMs: 10,
    logger: 'silent',
    ...options,
  })
}
