// JoinGroup of a classic group: new members, static members that come back, members that join again.
// Pure, as classic-rebalance.ts.
import type { Dead, GroupState, JoinEvent, Member, Populated, PreparingRebalance, Stable } from './classic-group.js'
import {
  completeJoinIfAllJoined,
  everyone,
  joined,
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
import {
  canAgree,
  countWaitingJoin,
  identityError,
  memberById,
  memberByInstance,
  sameProtocols,
  selectProtocol,
} from './group-members.js'

type Alive = Exclude<GroupState, Dead>

/** A new member cannot heartbeat while its first join waits, and its client may be gone: it has this long in all. */
const newMemberTimeoutMs = 300_000

export function join(state: GroupState, event: JoinEvent, effects: Effects): GroupState {
  const { ticket, memberId } = event
  if (state.kind === 'Dead') {
    effects.push(joinError(ticket, 'COORDINATOR_NOT_AVAILABLE', memberId))
    return state
  }
  if (!hasRoomFor(state, event)) {
    effects.push(joinError(ticket, 'GROUP_MAX_SIZE_REACHED', ''))
    return state.kind === 'Empty' || memberId === '' ? state : removeMember(state, memberId, effects)
  }
  if (!canAgree(state, event.protocolType, event.protocols)) {
    effects.push(joinError(ticket, 'INCONSISTENT_GROUP_PROTOCOL', memberId))
    return state
  }
  return memberId === '' ? joinNew(state, event, effects) : joinKnown(state, event, effects)
}

/**
 * group.max.size. During a rebalance those who wait count, not those listed: so a group that is over the limit loses
 * whoever comes back last.
 */
function hasRoomFor(state: Alive, { memberId, limits }: JoinEvent): boolean {
  if (state.kind === 'Empty') return true
  const known = state.members.get(memberId)
  if (state.kind === 'PreparingRebalance')
    return known?.parked?.in === 'join' || countWaitingJoin(state.members) < limits.maxSize
  return known !== undefined || state.members.size < limits.maxSize
}

function joinNew(state: Alive, event: JoinEvent, effects: Effects): GroupState {
  const { ticket, instanceId, newMemberId } = event
  if (instanceId !== null) {
    const holder = memberByInstance(state, instanceId)
    return holder ? replaceStatic(state as Populated, holder, event, effects) : add(state, newMemberId, event, effects)
  }
  if (!event.requiresKnownMemberId) return add(state, newMemberId, event, effects)
  setSessionTimer(effects, newMemberId, event.sessionTimeoutMs)
  effects.push(joinError(ticket, 'MEMBER_ID_REQUIRED', newMemberId))
  return { ...state, pending: new Set(state.pending).add(newMemberId) }
}

function joinKnown(state: Alive, event: JoinEvent, effects: Effects): GroupState {
  const { ticket, memberId, instanceId } = event
  if (state.pending.has(memberId)) {
    if (instanceId === null) return add(state, memberId, event, effects)
    effects.push(joinError(ticket, 'UNKNOWN_SERVER_ERROR', '')) // as Kafka: an id given to a dynamic member
    return state
  }
  const error = identityError(state, memberId, instanceId)
  const member = memberById(state, memberId)
  if (error !== 'NONE' || !member || state.kind === 'Empty') {
    effects.push(joinError(ticket, error, memberId))
    return state
  }
  const changed = !sameProtocols(member.protocols, event.protocols)
  const rejoins =
    state.kind === 'PreparingRebalance' || changed || (state.kind === 'Stable' && state.leader === memberId)
  if (rejoins) return rejoin(state, member, event, effects)
  // Nothing new: it lost the answer, or (a follower of a stable group) asks without need. The generation stands.
  effects.push(joined(state, memberId, ticket))
  return state
}

function reasonOf({ reason }: JoinEvent): string {
  return reason ? `: ${reason}` : ''
}

/** The leader of a stable group may join to have a new assignment made; others rebalance the group if their subscription changed. */
function rejoin(state: Populated, member: Member, event: JoinEvent, effects: Effects): GroupState {
  const { memberId } = member
  const next = { ...state, members: new Map(state.members).set(memberId, update(member, event, effects)) }
  return rebalanceOrComplete(next, `member ${memberId} joined again${reasonOf(event)}`, effects)
}

function update(member: Member, event: JoinEvent, effects: Effects): Member {
  if (member.parked?.in === 'join') effects.push({ kind: 'abandon', ticket: member.parked.ticket })
  if (member.parked?.in === 'sync') effects.push(syncAnswer(member.parked.ticket, 'REBALANCE_IN_PROGRESS'))
  return {
    ...member,
    protocols: event.protocols,
    sessionTimeoutMs: event.sessionTimeoutMs,
    rebalanceTimeoutMs: event.rebalanceTimeoutMs,
    parked: { in: 'join', ticket: event.ticket },
  }
}

function add(state: Alive, memberId: string, event: JoinEvent, effects: Effects): GroupState {
  const member: Member = {
    memberId,
    instanceId: event.instanceId,
    clientId: event.clientId,
    clientHost: event.clientHost,
    sessionTimeoutMs: event.sessionTimeoutMs,
    rebalanceTimeoutMs: event.rebalanceTimeoutMs,
    protocols: event.protocols,
    assignment: new Uint8Array(0),
    parked: { in: 'join', ticket: event.ticket },
    isNew: true,
  }
  setSessionTimer(effects, memberId, newMemberTimeoutMs)
  const pending = without(state.pending, memberId)
  const reason = `new member ${memberId}${reasonOf(event)}`
  if (state.kind === 'Empty') return begin(state, { ...event, memberId }, member, pending, effects)

  const members = new Map(state.members).set(memberId, member)
  // A group whose members are all gone while ids are out takes the next one's type.
  const protocolType = state.members.size === 0 ? event.protocolType : state.protocolType
  const common = { members, pending, protocolType }
  if (state.kind !== 'PreparingRebalance') return prepareRebalance({ ...state, ...common }, reason, effects)
  const initial = state.initial && { ...state.initial, memberAdded: true }
  return completeJoinIfAllJoined({ ...state, ...common, leader: state.leader ?? memberId, initial }, effects)
}

/** The first member of an empty group: others are waited for, so that a starting fleet costs one rebalance (KIP-134). */
function begin(
  state: Extract<GroupState, { kind: 'Empty' }>,
  event: JoinEvent,
  member: Member,
  pending: ReadonlySet<string>,
  effects: Effects,
): PreparingRebalance {
  const configuredMs = event.limits.initialDelayMs
  moved(effects, 'Empty', 'PreparingRebalance', `new member ${member.memberId}${reasonOf(event)}`)
  effects.push({ kind: 'setTimer', timer: { of: 'join' }, delayMs: configuredMs })
  return {
    kind: 'PreparingRebalance',
    generation: state.generation,
    protocolType: event.protocolType,
    topics: state.topics,
    pending,
    leader: member.memberId,
    members: new Map([[member.memberId, member]]),
    initial: {
      configuredMs,
      delayMs: configuredMs,
      remainingMs: Math.max(event.rebalanceTimeoutMs - configuredMs, 0),
      memberAdded: false,
    },
  }
}

/**
 * A static member came back without its id: it takes the place and the assignment of its former self, which is fenced.
 * In a stable group nobody else notices, unless the protocol would change (KIP-345).
 */
function replaceStatic(state: Populated, former: Member, event: JoinEvent, effects: Effects): GroupState {
  const { newMemberId } = event
  const { parked } = former
  if (parked?.in === 'join') effects.push(joinError(parked.ticket, 'FENCED_INSTANCE_ID', former.memberId))
  if (parked?.in === 'sync') effects.push(syncAnswer(parked.ticket, 'FENCED_INSTANCE_ID'))
  effects.push({ kind: 'cancelTimer', timer: { of: 'session', memberId: former.memberId } })
  setSessionTimer(effects, newMemberId, former.sessionTimeoutMs)

  const successor: Member = {
    ...update({ ...former, parked: null }, event, effects),
    memberId: newMemberId,
    isNew: false,
  }
  const members = new Map<string, Member>() // in the place of the former, so that the order of the members stays
  for (const [id, member] of state.members)
    if (id === former.memberId) members.set(newMemberId, successor)
    else members.set(id, member)

  const replaced = { ...state, members }
  const reason = `static member ${String(event.instanceId)} came back as ${newMemberId}${reasonOf(event)}`
  const leader = state.leader === former.memberId ? newMemberId : state.leader
  switch (replaced.kind) {
    case 'PreparingRebalance':
      return completeJoinIfAllJoined({ ...replaced, leader }, effects)
    case 'CompletingRebalance':
      // The assignment that the leader is making is for the former id.
      return prepareRebalance({ ...replaced, leader }, reason, effects)
    case 'Stable': {
      const pendingSync = new Set([...replaced.pendingSync].map((id) => (id === former.memberId ? newMemberId : id)))
      const next: Stable = { ...replaced, leader, pendingSync }
      if (selectProtocol(members) !== next.protocol) return prepareRebalance(next, reason, effects)
      return takeOver(next, former, successor, event, effects)
    }
    default:
      return replaced satisfies never
  }
}

function takeOver(state: Stable, former: Member, successor: Member, event: JoinEvent, effects: Effects): Stable {
  const { memberId } = successor
  const leads = state.leader === memberId
  const reply = { ...joined(state, memberId, event.ticket), members: [] }
  effects.push({ kind: 'persist' })
  if (event.canSkipAssignment) effects.push({ ...reply, skipAssignment: leads, members: leads ? everyone(state) : [] })
  // Before KIP-814 the only way to keep a leader from assigning anew is to name its former self.
  else effects.push({ ...reply, leader: leads ? former.memberId : reply.leader })
  return { ...state, members: new Map(state.members).set(memberId, { ...successor, parked: null }) }
}
