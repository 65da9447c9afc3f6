// The list of all groups: every broker tells of those that it coordinates.
import type { KafkaError } from '../../errors.js'
import { formatAddress } from '../../net/address.js'
import { ListGroups } from '../../protocol/messages/list-groups.js'
import { compareText } from '../../protocol/topic-partition.js'
import type { RequestInput, ResponseOf } from '../../protocol/wire/index.js'
import type { Deadline, WaitOptions } from '../../util/deadline.js'
import { arrayOf, nonEmptyString, option } from '../../util/options.js'
import type { BrokerAddress, Cluster } from '../cluster/index.js'
import { transientAtCoordinator } from './coordinator.js'
import { exchange, settle, type Job } from './settle.js'

/** Kafka's own words; a newer broker may have others. */
export type GroupState =
  | 'PreparingRebalance'
  | 'CompletingRebalance'
  | 'Stable'
  | 'Empty'
  | 'Dead'
  | 'Assigning'
  | 'Reconciling'
  | (string & {})

/** By which protocol the members form their group: 'consumer' is that of KIP-848. */
export type GroupType = 'classic' | 'consumer' | 'share' | 'streams' | (string & {})

export interface ListGroupsOptions extends WaitOptions {
  /** Only groups in one of these states. @default all */
  readonly states?: readonly GroupState[] | undefined
  /** Only groups of these types. @default all */
  readonly types?: readonly GroupType[] | undefined
}

export interface GroupListing {
  readonly group: string
  /** What its members are: 'consumer', 'connect'; '' for a group that only has committed offsets. */
  readonly protocolType: string
  /** null: the broker is too old to tell. */
  readonly state: GroupState | null
  readonly type: GroupType
  /** The node id of the broker that told of it. */
  readonly coordinatorId: number
}

/** A broker that could not tell its groups: they are missing in the list. */
export interface UnlistedBroker {
  readonly nodeId: number
  /** host:port. */
  readonly address: string
  readonly error: KafkaError
}

export interface GroupList {
  /** By name. A group of which two brokers told, because it was moving, is here once. */
  readonly groups: readonly GroupListing[]
  /** Empty if the list is complete. */
  readonly unlisted: readonly UnlistedBroker[]
}

export const listGroupsOptions = {
  states: option<readonly string[]>(arrayOf(nonEmptyString), []),
  types: option<readonly string[]>(arrayOf(nonEmptyString), []),
}

export interface GroupFilter {
  readonly states: readonly string[]
  readonly types: readonly string[]
}

type Listing = Job<BrokerAddress, { readonly groups: readonly GroupListing[] }>

// A broker that cannot be reached so often is given up: the groups of the others are of use now.
const MOST_TRIES_TO_REACH = 2

const FIRST_VERSION_WITH_STATE = 4
const FIRST_VERSION_WITH_TYPE = 5

export async function listGroups(cluster: Cluster, filter: GroupFilter, deadline: Deadline): Promise<GroupList> {
  await cluster.refreshed(deadline)
  const brokers = [...cluster.brokers.values()]
  const jobs: Listing[] = await settle(cluster, 'listing groups', brokers, deadline, async (open, rest, attempt) => {
    await Promise.all(open.map((job) => listOn(cluster, job, filter, rest, attempt)))
  })
  const groups = new Map<string, GroupListing>()
  const unlisted: UnlistedBroker[] = []
  for (const job of jobs) {
    const { nodeId } = job.item
    const result = job.result({ nodeId, address: formatAddress(job.item) })
    if (result.error) unlisted.push({ nodeId, address: result.address, error: result.error })
    else for (const one of result.groups) if (!groups.has(one.group)) groups.set(one.group, one)
  }
  return { groups: [...groups.values()].sort((a, b) => compareText(a.group, b.group)), unlisted }
}

async function listOn(
  cluster: Cluster,
  job: Listing,
  filter: GroupFilter,
  deadline: Deadline,
  attempt: number,
): Promise<void> {
  const { nodeId } = job.item
  const response = await exchange([job], () =>
    cluster.send(nodeId, ListGroups, (version) => requestFor(version, filter), { deadline }),
  )
  if (response === undefined) {
    if (job.lastError !== undefined && attempt >= MOST_TRIES_TO_REACH) job.fail(job.lastError)
  } else if (response.errorCode !== 0) {
    job.refused(response.errorCode, 'listing groups', transientAtCoordinator, { broker: nodeId })
  } else {
    job.done({ groups: listed(response, nodeId) })
  }
}

/** A broker that is too old for a filter refuses it with UNSUPPORTED_VERSION, but where there are no types all groups are classic. */
function requestFor(version: number, { states, types }: GroupFilter): RequestInput<typeof ListGroups> {
  const wantsClassic = types.some((type) => type.toLowerCase() === 'classic')
  const typesFilter = version < FIRST_VERSION_WITH_TYPE && wantsClassic ? [] : types
  return {
    ...(states.length > 0 || version >= FIRST_VERSION_WITH_STATE ? { statesFilter: states } : {}),
    ...(typesFilter.length > 0 || version >= FIRST_VERSION_WITH_TYPE ? { typesFilter } : {}),
  }
}

function listed({ groups }: ResponseOf<typeof ListGroups>, coordinatorId: number): GroupListing[] {
  return groups.map(({ groupId, protocolType, groupState, groupType }) => ({
    group: groupId,
    protocolType,
    state: groupState === '' ? null : groupState,
    type: groupType === '' ? 'classic' : groupType.toLowerCase(),
    coordinatorId,
  }))
}
