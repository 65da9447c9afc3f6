// Describing and deleting groups.
import { KafkaError, UsageError } from '../../errors.js'
import { CONSUMER_PROTOCOL, decodeAssignment, decodeSubscription } from '../../protocol/assignment/member-data.js'
import { DeleteGroups } from '../../protocol/messages/delete-groups.js'
import { DescribeGroups } from '../../protocol/messages/describe-groups.js'
import { errorByCode, errorCodes, toKafkaError } from '../../protocol/messages/error-table.js'
import { ListGroups } from '../../protocol/messages/list-groups.js'
import type { TopicPartition } from '../../protocol/topic-partition.js'
import type { ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline } from '../../util/deadline.js'
import type { Cluster } from '../cluster/index.js'
import { askCoordinator, eachGroup } from './coordinator.js'
import type { GroupState, GroupType } from './group-list.js'
import type { AdminResult, Job } from './settle.js'

export interface GroupMemberDescription {
  readonly memberId: string
  /** null: the member is not a static one. */
  readonly instanceId: string | null
  readonly clientId: string
  /** Its address as the broker sees it. */
  readonly clientHost: string
  /** What it subscribes to; null while the group rebalances, and if the members are no consumers. */
  readonly topics: readonly string[] | null
  /** What it reads; null as `topics`. */
  readonly partitions: readonly TopicPartition[] | null
}

export interface GroupDescription {
  readonly state: GroupState
  readonly type: GroupType
  /** What its members are: 'consumer', 'connect'; '' for a group that only has committed offsets. */
  readonly protocolType: string
  /** How partitions are shared out; null unless the group is stable. */
  readonly assignor: string | null
  /** The node id of the broker that coordinates it. */
  readonly coordinatorId: number
  readonly members: readonly GroupMemberDescription[]
}

export type DescribeGroupResult = AdminResult<{ readonly group: string }, GroupDescription>

export type DeleteGroupResult = AdminResult<{ readonly group: string }>

type Answer = ResponseOf<typeof DescribeGroups>['groups'][number]

export function describeGroups(
  cluster: Cluster,
  groups: readonly string[],
  deadline: Deadline,
): Promise<DescribeGroupResult[]> {
  return eachGroup(groups, deadline, async (group, job): Promise<GroupDescription> => {
    const what = `describing group ${group}`
    const request = () => ({ groups: [group] })
    const errorCodesOf = (response: ResponseOf<typeof DescribeGroups>) => response.groups.map((one) => one.errorCode)
    const asked = { what, api: DescribeGroups, request, errorCodesOf }
    const answer = (await askCoordinator(cluster, group, asked, deadline, job)).groups[0]
    if (answer === undefined) throw leftOut(what)
    const isUnknown = answer.errorCode === errorCodes.GROUP_ID_NOT_FOUND || answer.groupState === 'Dead'
    if (isUnknown) throw await whyUnknown(cluster, group, what, deadline)
    if (answer.errorCode !== 0) throw toKafkaError(answer.errorCode, { what, brokerMessage: answer.errorMessage })
    const coordinatorId = await cluster.coordinator(group, deadline)
    return described(answer, coordinatorId)
  })
}

/** DescribeGroups knows classic groups only (T87): what it does not know may be a group of another type. */
async function whyUnknown(cluster: Cluster, group: string, what: string, deadline: Deadline): Promise<KafkaError> {
  const asked = {
    what,
    api: ListGroups,
    request: () => ({}),
    errorCodesOf: ({ errorCode }: ResponseOf<typeof ListGroups>) => [errorCode],
  }
  const { groups } = await askCoordinator(cluster, group, asked, deadline)
  const type = groups.find(({ groupId }) => groupId === group)?.groupType ?? ''
  if (type === '' || type.toLowerCase() === 'classic') return toKafkaError(errorCodes.GROUP_ID_NOT_FOUND, { what })
  const message = `${what} is not supported yet: it is a group of type '${type}', and only classic groups can be described`
  return new UsageError(message, 'NOT_SUPPORTED')
}

function described(answer: Answer, coordinatorId: number): GroupDescription {
  const { groupState: state, protocolType, protocolData, members } = answer
  const isReadable = state === 'Stable' && protocolType === CONSUMER_PROTOCOL
  return {
    state,
    type: 'classic',
    protocolType,
    assignor: protocolData === '' ? null : protocolData,
    coordinatorId,
    members: members.map((member) => ({
      memberId: member.memberId,
      instanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost.replace(/^\//, ''), // as Java's InetAddress prints it
      topics: isReadable ? readable(() => decodeSubscription(member.memberMetadata, member.memberId).topics) : null,
      partitions: isReadable ? readable(() => decodeAssignment(member.memberAssignment)) : null,
    })),
  }
}

/** What a member tells is its own affair: if it is not what it should be, the rest of the description is still of use. */
function readable<T>(decode: () => T): T | null {
  try {
    return decode()
  } catch {
    return null
  }
}

export function deleteGroups(
  cluster: Cluster,
  groups: readonly string[],
  deadline: Deadline,
): Promise<DeleteGroupResult[]> {
  return eachGroup(groups, deadline, async (group, job): Promise<object> => {
    const what = `deleting group ${group}`
    const request = () => ({ groupsNames: [group] })
    const errorCodesOf = (response: ResponseOf<typeof DeleteGroups>) => response.results.map((one) => one.errorCode)
    const asked = { what, api: DeleteGroups, request, errorCodesOf }
    const result = (await askCoordinator(cluster, group, asked, deadline, job)).results[0]
    if (result === undefined) throw leftOut(what)
    if (result.errorCode !== 0) throw refusal(result.errorCode, what, result.errorMessage, job)
    return {}
  })
}

function refusal(errorCode: number, what: string, brokerMessage: string | null, job: Job<string>): KafkaError {
  if (errorCode === errorCodes.NON_EMPTY_GROUP) {
    const { name } = errorByCode(errorCode)
    const message = `${what} failed: ${name}: it still has members; close them first (see describeGroup)`
    return new KafkaError(message, { code: name })
  }
  return toKafkaError(errorCode, { what, brokerMessage, cause: job.lost })
}

function leftOut(what: string): KafkaError {
  return new KafkaError(`${what}: the broker's answer leaves it out`, { code: 'MALFORMED_MESSAGE' })
}
