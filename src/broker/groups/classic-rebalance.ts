// How a classic group goes from one generation to the next: what both joins and departures lead to.
// Pure: takes a state, returns the next one, and writes what is to be done into `effects`.
import {
  noBytes,
  type CompletingRebalance,
  type Empty,
  type Generation,
  type GroupEffect,
  type GroupState,
  type JoinReply,
  type Member,
  type Populated,
  type PreparingRebalance,
  type Ticket,
} from './classic-group.js'
import { haveAllJoined, metadataFor, rebalanceTimeoutMs, selectProtocol, subscribedTopics } from './group-members.js'

export type Effects = GroupEffect[]

export function moved(effects: Effects, from: GroupState['kind'], to: GroupState['kind'], reason: string): void {
  effects.push({ kind: 'moved', from, to, reason })
}

export function setSessionTimer(effects: Effects, memberId: string, delayMs: number): void {
  effects.push({ kind: 'setTimer', timer: { of: 'session', memberId }, delayMs })
}

export function cancelSessionTimer(effects: Effects, memberId: string): void {
  effects.push({ kind: 'cancelTimer', timer: { of: 'session', memberId } })
}

export function joinError(ticket: Ticket, error: JoinReply['error'], memberId: string): JoinReply {
  return {
    kind: 'joinReply',
    ticket,
    error,
    memberId,
    generation: -1,
    protocolType: null,
    protocol: null,
    leader: '',
    skipAssignment: false,
    members: [],
  }
}

export function everyone(state: Generation): JoinReply['members'] {
  return [...state.members.values()].map((member) => ({
    memberId: member.memberId,
    instanceId: member.instanceId,
    metadata: metadataFor(member, state.protocol) ?? noBytes,
  }))
}

/** The answer that tells a member its generation; the leader's lists everyone. */
export function joined(state: Generation, memberId: string, ticket: Ticket): JoinReply {
  return {
    kind: 'joinReply',
    ticket,
    error: 'NONE',
    memberId,
    generation: state.generation,
    protocolType: state.protocolType,
    protocol: state.protocol,
    leader: state.leader ?? '',
    skipAssignment: false,
    members: memberId === state.leader ? everyone(state) : [],
  }
}

/** The leader, or when it is gone the member that has been there longest. */
function leaderAmong(members: ReadonlyMap<string, Member>, leader: string | null): string | null {
  return leader !== null && members.has(leader) ? leader : (members.keys().next().value ?? null)
}

/** Takes a member out, or an id that was given out; whatever it waits for is answered. */
export function removeMember<S extends Populated>(state: S, memberId: string, effects: Effects): S {
  const pending = without(state.pending, memberId)
  const member = state.members.get(memberId)
  cancelSessionTimer(effects, memberId)
  if (!member) return { ...state, pending }
  if (member.parked?.in === 'join') effects.push(joinError(member.parked.ticket, 'UNKNOWN_MEMBER_ID', ''))
  if (member.parked?.in === 'sync') {
    const { ticket } = member.parked
    effects.push(syncAnswer(ticket, 'UNKNOWN_MEMBER_ID'))
  }
  const members = new Map(state.members)
  members.delete(memberId)
  const next = { ...state, pending, members, leader: leaderAmong(members, state.leader) }
  return 'pendingSync' in next ? { ...next, pendingSync: without(next.pendingSync, memberId) } : next
}

export function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  if (!ids.has(id)) return ids
  const rest = new Set(ids)
  rest.delete(id)
  return rest
}

export function syncAnswer(
  ticket: Ticket,
  error: JoinReply['error'],
  of?: { readonly protocolType: string; readonly protocol: string; readonly assignment: Uint8Array },
): GroupEffect {
  return {
    kind: 'syncReply',
    ticket,
    error,
    protocolType: of?.protocolType ?? null,
    protocol: of?.protocol ?? null,
    assignment: of?.assignment ?? noBytes,
  }
}

/** Every member has to join again. Those already there need not wait when nobody is missing. */
export function prepareRebalance(state: Generation, reason: string, effects: Effects): GroupState {
  let members = state.members
  if (state.kind === 'CompletingRebalance') {
    const changed = new Map<string, Member>()
    for (const [id, member] of members) {
      if (member.parked?.in !== 'sync') {
        changed.set(id, { ...member, assignment: noBytes })
        continue
      }
      effects.push(syncAnswer(member.parked.ticket, 'REBALANCE_IN_PROGRESS'))
      setSessionTimer(effects, id, member.sessionTimeoutMs)
      changed.set(id, { ...member, assignment: noBytes, parked: null })
    }
    members = changed
  }
  effects.push({ kind: 'cancelTimer', timer: { of: 'sync' } })
  moved(effects, state.kind, 'PreparingRebalance', reason)
  const preparing: PreparingRebalance = {
    kind: 'PreparingRebalance',
    generation: state.generation,
    protocolType: state.protocolType,
    topics: state.topics,
    pending: state.pending,
    leader: state.leader,
    members,
    initial: null,
  }
  if (haveAllJoined(preparing)) return completeJoin(preparing, effects)
  effects.push({ kind: 'setTimer', timer: { of: 'join' }, delayMs: rebalanceTimeoutMs(members) })
  return preparing
}

/** Goes on when everybody is there; the first rebalance of a group always takes its delay. */
export function completeJoinIfAllJoined(state: PreparingRebalance, effects: Effects): GroupState {
  return state.initial === null && haveAllJoined(state) ? completeJoin(state, effects) : state
}

/** After a join, an update or a departure: begin a rebalance, or see whether the running one is complete. */
export function rebalanceOrComplete(state: Populated, reason: string, effects: Effects): GroupState {
  return state.kind === 'PreparingRebalance'
    ? completeJoinIfAllJoined(state, effects)
    : prepareRebalance(state, reason, effects)
}

/** The join phase is over: whoever has not come back is out, but for static members, which keep their place until their session ends. */
export function completeJoin(state: PreparingRebalance, effects: Effects): GroupState {
  effects.push({ kind: 'cancelTimer', timer: { of: 'join' } })
  const members = new Map(state.members)
  for (const [id, member] of members) {
    if (member.parked || member.instanceId !== null) continue
    members.delete(id)
    cancelSessionTimer(effects, id)
  }
  const present = { ...state, members, leader: leaderAmong(members, state.leader) }
  if (members.size === 0) return becomeEmpty(present, effects)

  const leader = electLeader(present)
  if (leader === null) {
    // Only absent static members are left; the next try finds them here or expired.
    effects.push({ kind: 'setTimer', timer: { of: 'join' }, delayMs: rebalanceTimeoutMs(members) })
    return present
  }
  return nextGeneration(present, leader, effects)
}

/** The leader if it waits, else the first who does; null when nobody has joined. */
function electLeader({ leader, members }: PreparingRebalance): string | null {
  if (leader !== null && members.get(leader)?.parked) return leader
  for (const member of members.values()) if (member.parked) return member.memberId
  return null
}

function becomeEmpty(state: PreparingRebalance, effects: Effects): Empty {
  moved(effects, state.kind, 'Empty', 'no members are left')
  effects.push({ kind: 'persist' })
  return {
    kind: 'Empty',
    generation: state.generation + 1,
    protocolType: state.protocolType,
    pending: state.pending,
    topics: subscribedTopics(state.protocolType, '', new Map()),
  }
}

function nextGeneration(state: PreparingRebalance, leader: string, effects: Effects): CompletingRebalance {
  const protocol = selectProtocol(state.members)
  moved(
    effects,
    state.kind,
    'CompletingRebalance',
    `generation ${state.generation + 1}, ${state.members.size} members, ${protocol}`,
  )
  const members = new Map<string, Member>()
  for (const [id, member] of state.members) members.set(id, { ...member, parked: null, isNew: false })
  const next: CompletingRebalance = {
    kind: 'CompletingRebalance',
    generation: state.generation + 1,
    protocolType: state.protocolType,
    protocol,
    leader,
    members,
    pending: state.pending,
    pendingSync: new Set(members.keys()),
    topics: subscribedTopics(state.protocolType, protocol, members),
  }
  for (const [id, member] of state.members) {
    if (member.parked) effects.push(joined(next, id, member.parked.ticket))
    setSessionTimer(effects, id, member.sessionTimeoutMs)
  }
  effects.push({ kind: 'setTimer', timer: { of: 'sync' }, delayMs: rebalanceTimeoutMs(members) })
  return next
}
