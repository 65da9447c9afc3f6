// Questions about the members of a classic group: who waits, what they have in common, who is who. No change happens here.
import { ConsumerProtocolSubscription } from '../../protocol/messages/consumer-protocol.js'
import type { ErrorName } from '../../protocol/messages/error-table.js'
import { Reader } from '../../protocol/wire/index.js'
import type { GroupProtocol, GroupState, Member, Populated } from './classic-group.js'

export const consumerProtocolType = 'consumer'

type Members = ReadonlyMap<string, Member>

export function countWaitingJoin(members: Members): number {
  let count = 0
  for (const member of members.values()) if (member.parked?.in === 'join') count++
  return count
}

export function haveAllJoined(state: Populated): boolean {
  return state.pending.size === 0 && countWaitingJoin(state.members) === state.members.size
}

/** The longest of all: nobody is given less time than it asked for. */
export function rebalanceTimeoutMs(members: Members): number {
  let longest = 0
  for (const member of members.values()) longest = Math.max(longest, member.rebalanceTimeoutMs)
  return longest
}

export function memberByInstance(state: GroupState, instanceId: string): Member | undefined {
  if (state.kind === 'Empty' || state.kind === 'Dead') return undefined
  for (const member of state.members.values()) if (member.instanceId === instanceId) return member
  return undefined
}

export function memberById(state: GroupState, memberId: string): Member | undefined {
  return state.kind === 'Empty' || state.kind === 'Dead' ? undefined : state.members.get(memberId)
}

/** Whether a request may speak for this member: NONE, UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID (KIP-345). */
export function identityError(state: GroupState, memberId: string, instanceId: string | null): ErrorName {
  if (instanceId !== null) {
    const holder = memberByInstance(state, instanceId)
    if (!holder) return 'UNKNOWN_MEMBER_ID'
    if (holder.memberId !== memberId) return 'FENCED_INSTANCE_ID'
  }
  return memberById(state, memberId) ? 'NONE' : 'UNKNOWN_MEMBER_ID'
}

function supportsAll(members: Members, protocol: string): boolean {
  for (const member of members.values()) if (!member.protocols.some(({ name }) => name === protocol)) return false
  return true
}

/** Whether a member with these protocols can take part. */
export function canAgree(
  state: Exclude<GroupState, { kind: 'Dead' }>,
  protocolType: string,
  protocols: readonly GroupProtocol[],
): boolean {
  if (state.kind === 'Empty') return protocolType !== '' && protocols.length > 0
  return state.protocolType === protocolType && protocols.some(({ name }) => supportsAll(state.members, name))
}

/** Each member votes for the first of its protocols that all support; most votes win. */
export function selectProtocol(members: Members): string {
  const votes = new Map<string, number>()
  for (const member of members.values()) {
    const choice = member.protocols.find(({ name }) => supportsAll(members, name))
    if (choice) votes.set(choice.name, (votes.get(choice.name) ?? 0) + 1)
  }
  let winner = ''
  let most = 0
  for (const [name, count] of votes) if (count > most) [winner, most] = [name, count]
  return winner
}

export function metadataFor(member: Member, protocol: string): Uint8Array | undefined {
  return member.protocols.find(({ name }) => name === protocol)?.metadata
}

/** The topics that consumers subscribed to, read as version 0, which all versions begin with. Null when it cannot be told. */
export function subscribedTopics(protocolType: string, protocol: string, members: Members): ReadonlySet<string> | null {
  if (protocolType !== consumerProtocolType) return null
  const topics = new Set<string>()
  try {
    for (const member of members.values()) {
      const metadata = metadataFor(member, protocol) ?? new Uint8Array(0)
      const reader = new Reader(Buffer.from(metadata.buffer, metadata.byteOffset, metadata.byteLength))
      reader.int16()
      for (const topic of ConsumerProtocolSubscription.read(reader, 0).topics) topics.add(topic)
    }
  } catch {
    return null // not the consumers' format, whatever its name: nobody but the members has to understand it
  }
  return topics
}

/** Whether offsets of the topic are in use: unknown subscriptions of consumers count as all topics. */
export function isSubscribed(state: GroupState, topic: string): boolean {
  if (state.kind === 'Dead') return false
  return state.topics ? state.topics.has(topic) : state.protocolType === consumerProtocolType
}

export function sameProtocols(one: readonly GroupProtocol[], other: readonly GroupProtocol[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ name, metadata }, at) => {
      const counterpart = other[at]
      return counterpart?.name === name && Buffer.compare(metadata, counterpart.metadata) === 0
    })
  )
}

/** Whether a commit may be stored: from outside only into an empty group, from a member until its generation ends (T56). */
export function commitError(
  state: GroupState,
  commit: { readonly memberId: string; readonly instanceId: string | null; readonly generation: number },
): ErrorName {
  if (state.kind === 'Dead') return 'COORDINATOR_NOT_AVAILABLE'
  if (commit.generation < 0 && state.kind === 'Empty') return 'NONE'
  if (commit.generation >= 0 || commit.memberId !== '' || commit.instanceId !== null) {
    const error = identityError(state, commit.memberId, commit.instanceId)
    if (error !== 'NONE') return error
    if (commit.generation !== state.generation) return 'ILLEGAL_GENERATION'
  } else if (state.kind !== 'Empty') {
    return 'UNKNOWN_MEMBER_ID'
  }
  return state.kind === 'CompletingRebalance' ? 'REBALANCE_IN_PROGRESS' : 'NONE'
}
