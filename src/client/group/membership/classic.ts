// The classic group protocol seen from one member, as a pure step function: no clock, no I/O. The shell performs the effects and
// reports what came of them. MOVES says which states may follow which; the diagram in docs/design/groups.md is drawn from it.
import type { KafkaError } from '../../../errors.js'
import { partitionKey, type TopicPartition } from '../../../protocol/topic-partition.js'
import type { Effect, MembershipEvent, Parting } from './membership.js'

type Partitions = readonly TopicPartition[]

/** Not in the group: the broker gives the id, and a generation comes with the join. */
const NO_MEMBER = ''
const NO_GENERATION = -1

export type ClassicState =
  | { readonly name: 'idle' }
  /** Giving partitions up before joining; `pending` giveUp effects are not done yet. */
  | {
      readonly name: 'preparing'
      readonly memberId: string
      readonly generation: number
      readonly pending: number
      readonly reason: string
    }
  /** `owned` stays with the member over a cooperative rebalance, and is empty in an eager one. */
  | { readonly name: 'joining'; readonly memberId: string; readonly generation: number; readonly owned: Partitions }
  | { readonly name: 'syncing'; readonly memberId: string; readonly generation: number; readonly owned: Partitions }
  /** Cooperative: giving up what the assignment took away; then the added ones are begun with and the member joins again. */
  | {
      readonly name: 'revoking'
      readonly memberId: string
      readonly generation: number
      readonly kept: Partitions
      readonly added: Partitions
    }
  | { readonly name: 'stable'; readonly memberId: string; readonly generation: number; readonly assigned: Partitions }
  /** Out of the group since a handler took too long; joins again when the handler comes back. */
  | { readonly name: 'dormant'; readonly pending: number }
  | { readonly name: 'closing'; readonly memberId: string; readonly generation: number; readonly pending: number }
  | { readonly name: 'leaving' }
  | { readonly name: 'failed'; readonly error: KafkaError }
  | { readonly name: 'closed' }

export type ClassicStateName = ClassicState['name']

/** Every state with those that may follow it; a state may follow itself only where it says so. */
export const MOVES: Readonly<Record<ClassicStateName, readonly ClassicStateName[]>> = {
  idle: ['joining', 'closed'],
  preparing: ['preparing', 'joining', 'dormant', 'closing', 'failed'],
  joining: ['joining', 'syncing', 'preparing', 'dormant', 'closing', 'leaving', 'failed', 'closed'],
  syncing: ['joining', 'revoking', 'stable', 'preparing', 'dormant', 'closing', 'leaving', 'failed'],
  revoking: ['joining', 'preparing', 'dormant', 'closing', 'failed'],
  stable: ['preparing', 'joining', 'dormant', 'closing', 'leaving', 'failed'],
  dormant: ['dormant', 'preparing', 'joining', 'closing', 'closed'],
  closing: ['closing', 'leaving', 'closed'],
  leaving: ['closed'],
  failed: ['closed'],
  closed: [],
}

/** Eager members give up everything before a rebalance, cooperative ones only what the new assignment takes away (KIP-429). */
export type Rebalance = 'eager' | 'cooperative'

type Next = readonly [ClassicState, ...Effect[]]

export function step(rebalance: Rebalance, state: ClassicState, event: MembershipEvent): Next {
  if (event.type === 'close') return close(state)
  if (event.type === 'stalled') return stall(state)
  switch (state.name) {
    case 'idle':
      return event.type === 'start' ? join(NO_MEMBER, NO_GENERATION, [], 'the member starts') : [state]
    case 'preparing':
      return whilePreparing(state, event)
    case 'joining':
      return whileJoining(state, event)
    case 'syncing':
      return whileSyncing(rebalance, state, event)
    case 'revoking':
      return whileRevoking(state, event)
    case 'stable':
      return whileStable(rebalance, state, event)
    case 'dormant':
      return whileDormant(state, event)
    case 'closing':
      return whileClosing(state, event)
    case 'leaving':
      return event.type === 'left' ? [{ name: 'closed' }] : [state]
    case 'failed':
    case 'closed':
      return [state]
    default:
      return state satisfies never
  }
}

type Of<Name extends ClassicStateName> = Extract<ClassicState, { readonly name: Name }>

function join(memberId: string, generation: number, owned: Partitions, reason: string): Next {
  return [
    { name: 'joining', memberId, generation, owned },
    { type: 'join', memberId, owned, generation, reason },
  ]
}

function whilePreparing(state: Of<'preparing'>, event: MembershipEvent): Next {
  switch (event.type) {
    case 'givenUp':
      return state.pending > 1
        ? [{ ...state, pending: state.pending - 1 }]
        : [...withHeartbeatsStopped(join(state.memberId, state.generation, [], state.reason))]
    case 'refused':
      switch (verdict(event.error)) {
        case 'rebalance':
          return [state] // that is why it prepares
        case 'generationLost':
          return [{ ...state, generation: NO_GENERATION }, { type: 'stopHeartbeats' }]
        case 'memberLost':
          return [{ ...state, memberId: NO_MEMBER, generation: NO_GENERATION }, { type: 'stopHeartbeats' }]
        case 'fatal':
          return fail(event.error, [])
      }
    // falls through
    default:
      return [state]
  }
}

function withHeartbeatsStopped([state, ...effects]: Next): Next {
  return [state, { type: 'stopHeartbeats' }, ...effects]
}

function whileJoining(state: Of<'joining'>, event: MembershipEvent): Next {
  switch (event.type) {
    case 'joined': {
      const { memberId, generation, protocol, members } = event
      return [
        { name: 'syncing', memberId, generation, owned: state.owned },
        { type: 'sync', memberId, generation, protocol, members },
      ]
    }
    case 'joinFailed':
      if (event.error.code === 'MEMBER_ID_REQUIRED' && event.memberId !== undefined) {
        return join(event.memberId, state.generation, state.owned, 'the broker gave the member its id')
      }
      return afterRefusal(state, event.error)
    default:
      return [state]
  }
}

function whileSyncing(rebalance: Rebalance, state: Of<'syncing'>, event: MembershipEvent): Next {
  switch (event.type) {
    case 'synced':
      return rebalance === 'eager' ? begin(state, event.assigned, event.assigned) : reconcile(state, event.assigned)
    case 'syncFailed':
      return afterRefusal(state, event.error)
    default:
      return [state]
  }
}

function begin({ memberId, generation }: Of<'syncing'>, assigned: Partitions, added: Partitions): Next {
  return [
    { name: 'stable', memberId, generation, assigned },
    { type: 'assign', added },
    { type: 'startHeartbeats', memberId, generation },
  ]
}

function reconcile(state: Of<'syncing'>, assigned: Partitions): Next {
  const { memberId, generation, owned } = state
  const added = without(assigned, owned)
  const revoked = without(owned, assigned)
  if (revoked.length === 0) return begin(state, assigned, added)
  return [
    { name: 'revoking', memberId, generation, kept: without(owned, revoked), added },
    { type: 'startHeartbeats', memberId, generation },
    { type: 'giveUp', partitions: revoked, parting: 'revoked' },
  ]
}

function whileRevoking(state: Of<'revoking'>, event: MembershipEvent): Next {
  const { memberId, generation, kept, added } = state
  switch (event.type) {
    case 'givenUp': {
      const [joining, ...effects] = join(memberId, generation, [...kept, ...added], 'partitions were revoked')
      return [joining, { type: 'stopHeartbeats' }, { type: 'assign', added }, ...effects]
    }
    case 'refused':
      switch (verdict(event.error)) {
        case 'rebalance':
          return [state] // it joins again anyway
        case 'generationLost':
          return lose(memberId, kept, event.error, 1)
        case 'memberLost':
          return lose(NO_MEMBER, kept, event.error, 1)
        case 'fatal':
          return fail(event.error, kept)
      }
    // falls through
    default:
      return [state]
  }
}

function whileStable(rebalance: Rebalance, state: Of<'stable'>, event: MembershipEvent): Next {
  switch (event.type) {
    case 'rejoin':
      return rejoin(rebalance, state, event.reason)
    case 'refused':
      return verdict(event.error) === 'rebalance'
        ? rejoin(rebalance, state, 'the group rebalances')
        : afterRefusal({ ...state, owned: state.assigned }, event.error)
    default:
      return [state]
  }
}

function rejoin(rebalance: Rebalance, { memberId, generation, assigned }: Of<'stable'>, reason: string): Next {
  if (rebalance === 'eager' && assigned.length > 0) {
    return [
      { name: 'preparing', memberId, generation, pending: 1, reason },
      { type: 'giveUp', partitions: assigned, parting: 'revoked' },
    ]
  }
  return withHeartbeatsStopped(join(memberId, generation, assigned, reason))
}

function whileDormant(state: Of<'dormant'>, event: MembershipEvent): Next {
  const reason = 'the handler came back'
  switch (event.type) {
    case 'givenUp':
      return [{ name: 'dormant', pending: state.pending - 1 }]
    case 'resumed':
      return state.pending > 0
        ? [{ name: 'preparing', memberId: NO_MEMBER, generation: NO_GENERATION, pending: state.pending, reason }]
        : join(NO_MEMBER, NO_GENERATION, [], reason)
    default:
      return [state]
  }
}

function whileClosing(state: Of<'closing'>, event: MembershipEvent): Next {
  if (event.type !== 'givenUp') return [state]
  return state.pending > 1 ? [{ ...state, pending: state.pending - 1 }] : leave(state.memberId)
}

// ---- what can happen in many states

type Verdict = 'rebalance' | 'generationLost' | 'memberLost' | 'fatal'

/** What a refusal by the coordinator means. Errors of the way to it (moved, loading, timed out) are retried before they get here. */
function verdict(error: KafkaError): Verdict {
  switch (error.code) {
    case 'REBALANCE_IN_PROGRESS':
      return 'rebalance'
    case 'ILLEGAL_GENERATION':
      return 'generationLost'
    case 'UNKNOWN_MEMBER_ID':
      return 'memberLost'
    default:
      return 'fatal'
  }
}

type InGroup = { readonly memberId: string; readonly generation: number; readonly owned: Partitions }

function afterRefusal({ memberId, generation, owned }: InGroup, error: KafkaError): Next {
  switch (verdict(error)) {
    case 'rebalance':
      return join(memberId, generation, owned, 'the group rebalances')
    case 'generationLost':
      return lose(memberId, owned, error, 0)
    case 'memberLost':
      return lose(NO_MEMBER, owned, error, 0)
    case 'fatal':
      return fail(error, owned)
  }
}

/** The group went on without this member: what it owned may be others' by now, so nothing is committed. */
function lose(memberId: string, owned: Partitions, error: KafkaError, pendingBefore: number): Next {
  const giveUp = givingUp(owned, 'lost')
  const pending = pendingBefore + giveUp.length
  if (pending === 0) return withHeartbeatsStopped(join(memberId, NO_GENERATION, [], error.code))
  return [
    { name: 'preparing', memberId, generation: NO_GENERATION, pending, reason: error.code },
    { type: 'stopHeartbeats' },
    ...giveUp,
  ]
}

function fail(error: KafkaError, owned: Partitions): Next {
  return [{ name: 'failed', error }, { type: 'stopHeartbeats' }, ...givingUp(owned, 'lost'), { type: 'fail', error }]
}

function givingUp(partitions: Partitions, parting: Parting): Effect[] {
  return partitions.length > 0 ? [{ type: 'giveUp', partitions, parting }] : []
}

interface Outlook extends InGroup {
  /** giveUp effects that are not done. */
  readonly pending: number
  /** How the request that is under way is ended. */
  readonly cancel: readonly Effect[]
}

/** What has to be dealt with when the member goes out of the group from this state. */
function outlook(state: ClassicState): Outlook {
  const nobody = { memberId: NO_MEMBER, generation: NO_GENERATION, owned: [], pending: 0, cancel: [] }
  switch (state.name) {
    case 'preparing':
      return { ...state, owned: [], cancel: [] }
    case 'joining':
    case 'syncing':
      return { ...state, pending: 0, cancel: [{ type: 'cancel' }] }
    case 'revoking':
      return { ...state, owned: state.kept, pending: 1, cancel: [] }
    case 'stable':
      return { ...state, owned: state.assigned, pending: 0, cancel: [] }
    case 'dormant':
      return { ...nobody, pending: state.pending }
    default:
      return nobody
  }
}

function stall(state: ClassicState): Next {
  switch (state.name) {
    case 'preparing':
    case 'joining':
    case 'syncing':
    case 'revoking':
    case 'stable': {
      const { memberId, owned, pending, cancel } = outlook(state)
      const giveUp = givingUp(owned, 'lost')
      const reason = 'a handler took longer than maxProcessingMs'
      const leaving: Effect[] = memberId === NO_MEMBER ? [] : [{ type: 'leave', memberId, reason }]
      return [
        { name: 'dormant', pending: pending + giveUp.length },
        { type: 'stopHeartbeats' },
        ...cancel,
        ...giveUp,
        ...leaving,
      ]
    }
    default:
      return [state]
  }
}

function close(state: ClassicState): Next {
  switch (state.name) {
    case 'idle':
    case 'failed':
      return [{ name: 'closed' }]
    case 'closing':
    case 'leaving':
    case 'closed':
      return [state]
    default: {
      const { memberId, generation, owned, pending, cancel } = outlook(state)
      const giveUp = givingUp(owned, 'revoked')
      const waiting = pending + giveUp.length
      if (waiting > 0) return [{ name: 'closing', memberId, generation, pending: waiting }, ...cancel, ...giveUp]
      const [next, ...effects] = leave(memberId)
      return [next, ...cancel, ...effects]
    }
  }
}

function leave(memberId: string): Next {
  if (memberId === NO_MEMBER) return [{ name: 'closed' }, { type: 'stopHeartbeats' }]
  return [{ name: 'leaving' }, { type: 'stopHeartbeats' }, { type: 'leave', memberId, reason: 'the member was closed' }]
}

function without(partitions: Partitions, others: Partitions): TopicPartition[] {
  const keys = new Set(others.map(partitionKey))
  return partitions.filter((one) => !keys.has(partitionKey(one)))
}
