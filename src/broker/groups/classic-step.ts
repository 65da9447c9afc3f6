// A classic group as a function: step(state, event) gives the next state and what is to be done. No clock, no I/O, no randomness.
// The events, effects and legal moves are in classic-group.ts; joining in classic-join.ts, generations in classic-rebalance.ts.
import type {
  Dead,
  GroupEffect,
  GroupEvent,
  GroupState,
  HeartbeatEvent,
  LeaveEvent,
  LeaveReply,
  Member,
  Populated,
  PreparingRebalance,
  Stable,
  SyncEvent,
} from './classic-group.js'
import { noBytes } from './classic-group.js'
import { join } from './classic-join.js'
import {
  completeJoin,
  joinError,
  moved,
  prepareRebalance,
  rebalanceOrComplete,
  removeMember,
  setSessionTimer,
  syncAnswer,
  without,
  type Effects,
} from './classic-rebalance.js'
import { haveAllJoined, identityError, memberById, memberByInstance } from './group-members.js'

export function step(state: GroupState, event: GroupEvent): readonly [GroupState, ...GroupEffect[]] {
  const effects: GroupEffect[] = []
  const next = apply(state, event, effects)
  return [next, ...effects]
}

function apply(state: GroupState, event: GroupEvent, effects: Effects): GroupState {
  switch (event.kind) {
    case 'join':
      return join(state, event, effects)
    case 'sync':
      return sync(state, event, effects)
    case 'heartbeat':
      return heartbeat(state, event, effects)
    case 'leave':
      return leave(state, event, effects)
    case 'committed':
      return committed(state, event.memberId, effects)
    case 'sessionTimeout':
      return sessionTimeout(state, event.memberId, effects)
    case 'joinTimeout':
      return state.kind === 'PreparingRebalance' ? joinTimeout(state, effects) : state
    case 'syncTimeout':
      return syncTimeout(state, effects)
    case 'delete':
      return state.kind === 'Empty' ? die(state, 'deleted', effects) : state
    case 'unload':
      return unload(state, effects)
    default:
      return event satisfies never
  }
}

function sync(state: GroupState, event: SyncEvent, effects: Effects): GroupState {
  const { ticket, memberId } = event
  const error = syncError(state, event)
  const member = memberById(state, memberId)
  if (error !== 'NONE' || !member || state.kind === 'Empty' || state.kind === 'Dead') {
    effects.push(syncAnswer(ticket, error))
    return state
  }
  if (state.kind === 'PreparingRebalance') {
    effects.push(syncAnswer(ticket, 'REBALANCE_IN_PROGRESS'))
    return state
  }
  const pendingSync = without(state.pendingSync, memberId)
  if (pendingSync.size === 0) effects.push({ kind: 'cancelTimer', timer: { of: 'sync' } })
  if (state.kind === 'Stable') {
    const { protocolType, protocol } = state
    effects.push(syncAnswer(ticket, 'NONE', { protocolType, protocol, assignment: member.assignment }))
    return { ...state, pendingSync }
  }
  if (member.parked) effects.push({ kind: 'abandon', ticket: member.parked.ticket })
  const members = new Map(state.members).set(memberId, { ...member, parked: { in: 'sync', ticket } })
  if (memberId !== state.leader) return { ...state, members, pendingSync }

  moved(effects, state.kind, 'Stable', `generation ${state.generation} is assigned`)
  return distribute({ ...state, kind: 'Stable', members, pendingSync }, event.assignments, effects)
}

function syncError(state: GroupState, event: SyncEvent): LeaveReply['error'] {
  if (state.kind === 'Dead') return 'COORDINATOR_NOT_AVAILABLE'
  const error = identityError(state, event.memberId, event.instanceId)
  if (error !== 'NONE' || state.kind === 'Empty') return error
  if (event.generation !== state.generation) return 'ILLEGAL_GENERATION'
  const protocol = state.kind === 'PreparingRebalance' ? null : state.protocol
  return differs(event.protocolType, state.protocolType) || differs(event.protocol, protocol)
    ? 'INCONSISTENT_GROUP_PROTOCOL'
    : 'NONE'
}

/** Old clients name neither (KIP-559). */
function differs(named: string | null, ours: string | null): boolean {
  return named !== null && ours !== null && named !== ours
}

/** The leader's word: each member's part, and the answer for those who wait for it. Who was forgotten gets nothing. */
function distribute(state: Stable, assignments: ReadonlyMap<string, Uint8Array>, effects: Effects): Stable {
  effects.push({ kind: 'persist' })
  const members = new Map<string, Member>()
  for (const [id, member] of state.members) {
    const assignment = assignments.get(id) ?? noBytes
    members.set(id, { ...member, assignment, parked: null })
    if (!member.parked) continue
    effects.push(syncAnswer(member.parked.ticket, 'NONE', { ...state, assignment }))
    // A session that ran out while the member waited was let pass, so it begins again.
    setSessionTimer(effects, id, member.sessionTimeoutMs)
  }
  return { ...state, members }
}

function heartbeat(state: GroupState, event: HeartbeatEvent, effects: Effects): GroupState {
  const error = heartbeatError(state, event)
  const member = memberById(state, event.memberId)
  if (member && (error === 'NONE' || error === 'REBALANCE_IN_PROGRESS'))
    setSessionTimer(effects, member.memberId, member.sessionTimeoutMs)
  effects.push({ kind: 'heartbeatReply', ticket: event.ticket, error })
  return state
}

function heartbeatError(state: GroupState, event: HeartbeatEvent): LeaveReply['error'] {
  if (state.kind === 'Dead') return 'COORDINATOR_NOT_AVAILABLE'
  const error = identityError(state, event.memberId, event.instanceId)
  if (error !== 'NONE') return error
  if (event.generation !== state.generation) return 'ILLEGAL_GENERATION'
  return state.kind === 'PreparingRebalance' ? 'REBALANCE_IN_PROGRESS' : 'NONE'
}

function leave(state: GroupState, event: LeaveEvent, effects: Effects): GroupState {
  const { ticket } = event
  if (state.kind === 'Dead') {
    effects.push({ kind: 'leaveReply', ticket, error: 'COORDINATOR_NOT_AVAILABLE', members: [] })
    return state
  }
  let next: Exclude<GroupState, Dead> = state
  const gone: string[] = []
  const members = event.members.map(({ memberId, instanceId, reason }) => {
    const { id, error } = whoLeaves(next, memberId, instanceId)
    if (error === 'NONE') {
      next = next.kind === 'Empty' ? { ...next, pending: without(next.pending, id) } : removeMember(next, id, effects)
      if (next.kind === 'Empty') effects.push({ kind: 'cancelTimer', timer: { of: 'session', memberId: id } })
      gone.push(reason ? `${id} (${reason})` : id)
    }
    return { memberId, instanceId, error }
  })
  effects.push({ kind: 'leaveReply', ticket, error: 'NONE', members })
  if (gone.length === 0 || next.kind === 'Empty') return next
  return rebalanceOrComplete(next, `left: ${gone.join(', ')}`, effects)
}

/** An administrator removes static members by their instance alone. */
function whoLeaves(
  state: GroupState,
  memberId: string,
  instanceId: string | null,
): { readonly id: string; readonly error: LeaveReply['error'] } {
  if (memberId === '') {
    const holder = instanceId === null ? undefined : memberByInstance(state, instanceId)
    return holder ? { id: holder.memberId, error: 'NONE' } : { id: '', error: 'UNKNOWN_MEMBER_ID' }
  }
  const isPending = state.kind !== 'Dead' && state.pending.has(memberId)
  return { id: memberId, error: isPending ? 'NONE' : identityError(state, memberId, instanceId) }
}

function committed(state: GroupState, memberId: string, effects: Effects): GroupState {
  const member = memberById(state, memberId)
  if (member && (state.kind === 'Stable' || state.kind === 'PreparingRebalance'))
    setSessionTimer(effects, memberId, member.sessionTimeoutMs)
  return state
}

function sessionTimeout(state: GroupState, memberId: string, effects: Effects): GroupState {
  if (state.kind === 'Dead') return state
  const isPending = state.pending.has(memberId)
  if (state.kind === 'Empty') return isPending ? { ...state, pending: without(state.pending, memberId) } : state
  const member = state.members.get(memberId)
  if (!isPending && !member) return state
  // Who waits for an answer of ours is alive; but the client of a first join may be gone without our seeing it.
  if (member?.parked && !member.isNew) return state
  const next = removeMember(state, memberId, effects)
  return afterExpiry(next, isPending, `member ${memberId} sent no heartbeat`, effects)
}

function afterExpiry(state: Populated, wasPending: boolean, reason: string, effects: Effects): GroupState {
  if (state.kind === 'PreparingRebalance') return haveAllJoined(state) ? completeJoin(state, effects) : state
  return wasPending ? state : prepareRebalance(state, reason, effects)
}

function joinTimeout(state: PreparingRebalance, effects: Effects): GroupState {
  const { initial } = state
  if (!initial?.memberAdded || initial.remainingMs === 0) return completeJoin(state, effects)
  const delayMs = Math.min(initial.configuredMs, initial.remainingMs)
  effects.push({ kind: 'setTimer', timer: { of: 'join' }, delayMs })
  const remainingMs = Math.max(initial.remainingMs - initial.delayMs, 0)
  return { ...state, initial: { ...initial, delayMs, remainingMs, memberAdded: false } }
}

/** Who joined but never asked for its assignment is not there. */
function syncTimeout(state: GroupState, effects: Effects): GroupState {
  if ((state.kind !== 'CompletingRebalance' && state.kind !== 'Stable') || state.pendingSync.size === 0) return state
  let next: typeof state = state
  for (const memberId of state.pendingSync) next = removeMember(next, memberId, effects)
  return prepareRebalance(next, `no SyncGroup from ${[...state.pendingSync].join(', ')}`, effects)
}

function die(state: GroupState, reason: string, effects: Effects): Dead {
  if (state.kind !== 'Dead') moved(effects, state.kind, 'Dead', reason)
  return { kind: 'Dead' }
}

function unload(state: GroupState, effects: Effects): Dead {
  if (state.kind !== 'Empty' && state.kind !== 'Dead')
    for (const { memberId, parked } of state.members.values()) {
      if (parked?.in === 'join') effects.push(joinError(parked.ticket, 'NOT_COORDINATOR', memberId))
      if (parked?.in === 'sync') effects.push(syncAnswer(parked.ticket, 'NOT_COORDINATOR'))
    }
  return die(state, 'another broker coordinates the group', effects)
}
