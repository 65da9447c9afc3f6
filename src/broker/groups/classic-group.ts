// The states of a classic group and what can happen to it, as plain data. What follows from what is in classic-step.ts.
// Mirrors Apache Kafka's ClassicGroup; parked requests and timers are only named here, the coordinator holds them.

import type { ErrorName } from '../../protocol/messages/error-table.js'

/** Stands for a request whose answer is owed; the coordinator knows whose it is. */
export type Ticket = number

export interface GroupProtocol {
  readonly name: string
  readonly metadata: Uint8Array
}

export interface Member {
  readonly memberId: string
  readonly instanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  /** In the member's order of preference. */
  readonly protocols: readonly GroupProtocol[]
  readonly assignment: Uint8Array
  /** The request that waits for the others. */
  readonly parked: { readonly in: 'join' | 'sync'; readonly ticket: Ticket } | null
  /** Has not been through a whole join yet: expires even while it waits, as nobody heartbeats without an id. */
  readonly isNew: boolean
}

interface Common {
  readonly generation: number
  /** Ids that were given out and not joined with yet (KIP-394). */
  readonly pending: ReadonlySet<string>
  /** What the members of the last generation subscribed to; null when that is not known. */
  readonly topics: ReadonlySet<string> | null
}

interface WithMembers extends Common {
  readonly protocolType: string
  /** Null only while there are no members. */
  readonly leader: string | null
  readonly members: ReadonlyMap<string, Member>
}

export interface Empty extends Common {
  readonly kind: 'Empty'
  /** Null for a group that only ever committed offsets. */
  readonly protocolType: string | null
}

/** The first rebalance of an empty group waits for more members (group.initial.rebalance.delay.ms, KIP-134). */
export interface InitialDelay {
  readonly configuredMs: number
  readonly delayMs: number
  readonly remainingMs: number
  readonly memberAdded: boolean
}

export interface PreparingRebalance extends WithMembers {
  readonly kind: 'PreparingRebalance'
  /** Null when members were there before. */
  readonly initial: InitialDelay | null
}

interface WithGeneration extends WithMembers {
  readonly protocol: string
  /** Who has not sent SyncGroup in this generation. */
  readonly pendingSync: ReadonlySet<string>
}

export interface CompletingRebalance extends WithGeneration {
  readonly kind: 'CompletingRebalance'
}

export interface Stable extends WithGeneration {
  readonly kind: 'Stable'
}

/** Deleted, or handed over to another broker. */
export interface Dead {
  readonly kind: 'Dead'
}

export type GroupState = Empty | PreparingRebalance | CompletingRebalance | Stable | Dead
export type Generation = CompletingRebalance | Stable
export type Populated = PreparingRebalance | Generation

/** The legal moves. One event may make several, each told by an effect. */
export const MOVES: Readonly<Record<GroupState['kind'], readonly GroupState['kind'][]>> = {
  Empty: ['PreparingRebalance', 'Dead'],
  PreparingRebalance: ['CompletingRebalance', 'Empty', 'Dead'],
  CompletingRebalance: ['Stable', 'PreparingRebalance', 'Dead'],
  Stable: ['PreparingRebalance', 'Dead'],
  Dead: [],
}

export interface JoinEvent {
  readonly kind: 'join'
  readonly ticket: Ticket
  /** Empty for a member that has no id yet. */
  readonly memberId: string
  /** The id it gets if it needs one: the caller draws it, so that this stays a function. */
  readonly newMemberId: string
  readonly instanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly protocolType: string
  readonly protocols: readonly GroupProtocol[]
  /** From version 4: a new dynamic member has to come back with its id (KIP-394). */
  readonly requiresKnownMemberId: boolean
  /** From version 9: a static leader that came back is told that there is an assignment already (KIP-814). */
  readonly canSkipAssignment: boolean
  readonly reason: string | null
  readonly limits: { readonly maxSize: number; readonly initialDelayMs: number }
}

export interface SyncEvent {
  readonly kind: 'sync'
  readonly ticket: Ticket
  readonly memberId: string
  readonly instanceId: string | null
  readonly generation: number
  readonly protocolType: string | null
  readonly protocol: string | null
  readonly assignments: ReadonlyMap<string, Uint8Array>
}

export interface HeartbeatEvent {
  readonly kind: 'heartbeat'
  readonly ticket: Ticket
  readonly memberId: string
  readonly instanceId: string | null
  readonly generation: number
}

export interface LeaveEvent {
  readonly kind: 'leave'
  readonly ticket: Ticket
  readonly members: readonly {
    readonly memberId: string
    readonly instanceId: string | null
    readonly reason: string | null
  }[]
}

export type GroupEvent =
  | JoinEvent
  | SyncEvent
  | HeartbeatEvent
  | LeaveEvent
  /** A commit of this member was accepted, which counts as a sign of life. */
  | { readonly kind: 'committed'; readonly memberId: string }
  | { readonly kind: 'sessionTimeout'; readonly memberId: string }
  | { readonly kind: 'joinTimeout' }
  | { readonly kind: 'syncTimeout' }
  | { readonly kind: 'delete' }
  /** This broker is not the coordinator any more. */
  | { readonly kind: 'unload' }

export interface JoinReply {
  readonly kind: 'joinReply'
  readonly ticket: Ticket
  readonly error: ErrorName
  readonly memberId: string
  readonly generation: number
  readonly protocolType: string | null
  readonly protocol: string | null
  readonly leader: string
  readonly skipAssignment: boolean
  /** Everyone, for the leader; empty for the others. */
  readonly members: readonly {
    readonly memberId: string
    readonly instanceId: string | null
    readonly metadata: Uint8Array
  }[]
}

export interface SyncReply {
  readonly kind: 'syncReply'
  readonly ticket: Ticket
  readonly error: ErrorName
  readonly protocolType: string | null
  readonly protocol: string | null
  readonly assignment: Uint8Array
}

export interface HeartbeatReply {
  readonly kind: 'heartbeatReply'
  readonly ticket: Ticket
  readonly error: ErrorName
}

export interface LeaveReply {
  readonly kind: 'leaveReply'
  readonly ticket: Ticket
  readonly error: ErrorName
  readonly members: readonly {
    readonly memberId: string
    readonly instanceId: string | null
    readonly error: ErrorName
  }[]
}

export type Reply = JoinReply | SyncReply | HeartbeatReply | LeaveReply

export type GroupTimer =
  { readonly of: 'join' } | { readonly of: 'sync' } | { readonly of: 'session'; readonly memberId: string }

export type GroupEffect =
  | Reply
  /** The member sent the request again by another way: nobody waits for this answer any more. */
  | { readonly kind: 'abandon'; readonly ticket: Ticket }
  /** Sets the timer, or sets it anew. */
  | { readonly kind: 'setTimer'; readonly timer: GroupTimer; readonly delayMs: number }
  | { readonly kind: 'cancelTimer'; readonly timer: GroupTimer }
  /** Where Kafka writes the group to __consumer_offsets: what is there in this state survives a move of the coordinator. */
  | { readonly kind: 'persist' }
  | {
      readonly kind: 'moved'
      readonly from: GroupState['kind']
      readonly to: GroupState['kind']
      readonly reason: string
    }

export const noBytes = new Uint8Array(0)

export const newGroup: Empty = { kind: 'Empty', generation: 0, protocolType: null, pending: new Set(), topics: null }
