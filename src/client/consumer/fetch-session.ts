// A fetch session with one broker (KIP-227) as a pure step: what a request must name, given what the broker remembers.
// The epochs are Kafka's: 0 opens a session (and closes the one whose id goes along), then 1, 2, … for what changed since.
import { errorCodes } from '../../protocol/messages/error-table.js'

export interface SessionPartition {
  /** Identifies the partition within the session: by topic id where the request goes by ids, else by name. */
  readonly key: string
  readonly topic: string
  readonly topicId: string
  readonly partition: number
  readonly fetchOffset: number
  readonly maxBytes: number
  readonly leaderEpoch: number
}

type Partitions = ReadonlyMap<string, SessionPartition>

export type SessionState =
  /** The next request names everything. `id` is a session that it closes by the way; 0: none. */
  | { readonly kind: 'closed'; readonly id: number }
  | { readonly kind: 'opening'; readonly id: number; readonly usesIds: boolean; readonly partitions: Partitions }
  /** The broker remembers `partitions`; `epoch` is that of the next request. */
  | {
      readonly kind: 'open'
      readonly id: number
      readonly epoch: number
      readonly usesIds: boolean
      readonly partitions: Partitions
    }
  | {
      readonly kind: 'asking'
      readonly id: number
      readonly epoch: number
      readonly usesIds: boolean
      readonly partitions: Partitions
    }

export type SessionEvent =
  | { readonly type: 'send'; readonly usesIds: boolean; readonly partitions: readonly SessionPartition[] }
  | { readonly type: 'answer'; readonly errorCode: number; readonly sessionId: number }
  /** No answer: it is not known whether the broker has seen the request. */
  | { readonly type: 'lost' }

export interface SessionRequest {
  readonly sessionId: number
  readonly sessionEpoch: number
  /** New partitions and those whose offset, size or epoch changed. */
  readonly send: readonly SessionPartition[]
  readonly forget: readonly SessionPartition[]
}

export const closedSession: SessionState = { kind: 'closed', id: 0 }

/** Which state may follow which; the walk in the test proves that no other move happens. */
export const MOVES: Readonly<Record<SessionState['kind'], readonly SessionState['kind'][]>> = {
  closed: ['opening'],
  opening: ['open', 'closed'],
  open: ['asking', 'opening'],
  asking: ['open', 'closed'],
}

const largestEpoch = 0x7fffffff

/** The next state, and for `send` the request. An event that does not fit the state is a mistake of the caller's and throws. */
export function stepSession(
  state: SessionState,
  event: SessionEvent,
): readonly [SessionState] | readonly [SessionState, SessionRequest] {
  switch (event.type) {
    case 'send':
      return send(state, event.usesIds, event.partitions)
    case 'answer':
      return [answered(state, event.errorCode, event.sessionId)]
    case 'lost':
      if (state.kind !== 'opening' && state.kind !== 'asking') throw misfit(state, event)
      return [{ kind: 'closed', id: state.id }]
    default:
      return event satisfies never
  }
}

function send(
  state: SessionState,
  usesIds: boolean,
  wanted: readonly SessionPartition[],
): readonly [SessionState, SessionRequest] {
  const partitions = new Map<string, SessionPartition>()
  for (const partition of wanted) partitions.set(partition.key, partition)
  switch (state.kind) {
    case 'closed':
      return [
        { kind: 'opening', id: state.id, usesIds, partitions },
        { sessionId: state.id, sessionEpoch: 0, send: wanted, forget: [] },
      ]
    case 'open': {
      const { id, epoch } = state
      // Names and ids do not mix within a session (KIP-516).
      if (state.usesIds !== usesIds) {
        return [
          { kind: 'opening', id, usesIds, partitions },
          { sessionId: id, sessionEpoch: 0, send: wanted, forget: [] },
        ]
      }
      const changed = wanted.filter((partition) => !isSame(partition, state.partitions.get(partition.key)))
      const forget: SessionPartition[] = []
      for (const [key, known] of state.partitions) if (!partitions.has(key)) forget.push(known)
      return [
        { kind: 'asking', id, epoch, usesIds, partitions },
        { sessionId: id, sessionEpoch: epoch, send: changed, forget },
      ]
    }
    case 'opening':
    case 'asking':
      throw misfit(state, { type: 'send' })
    default:
      return state satisfies never
  }
}

function answered(state: SessionState, errorCode: number, sessionId: number): SessionState {
  if (state.kind !== 'opening' && state.kind !== 'asking') throw misfit(state, { type: 'answer' })
  if (errorCode !== 0) {
    // What the broker does not know cannot be closed; any other session is closed by the request that opens the next.
    return { kind: 'closed', id: errorCode === errorCodes.FETCH_SESSION_ID_NOT_FOUND ? 0 : state.id }
  }
  const { usesIds, partitions } = state
  // 0: the broker's cache of sessions is full, or the request was older than sessions.
  if (sessionId === 0) return closedSession
  if (state.kind === 'opening') return { kind: 'open', id: sessionId, epoch: 1, usesIds, partitions }
  return { kind: 'open', id: sessionId, epoch: state.epoch === largestEpoch ? 1 : state.epoch + 1, usesIds, partitions }
}

function isSame(a: SessionPartition, b: SessionPartition | undefined): boolean {
  return (
    b !== undefined && a.fetchOffset === b.fetchOffset && a.maxBytes === b.maxBytes && a.leaderEpoch === b.leaderEpoch
  )
}

function misfit(state: SessionState, event: { readonly type: SessionEvent['type'] }): Error {
  return new Error(`a fetch session that is ${state.kind} cannot take the event '${event.type}'`)
}
