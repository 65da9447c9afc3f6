// The life of a connection as a pure step function; connection.ts performs the effects.
import type { KafkaError } from '../errors.js'

export type ConnectionState =
  | { readonly stage: 'handshake' }
  | { readonly stage: 'open' }
  /** Takes no more requests; ends once those sent are answered. */
  | { readonly stage: 'draining' }
  /** `error` is undefined when it was closed from our side. */
  | { readonly stage: 'closed'; readonly error: KafkaError | undefined }

export type ConnectionEvent =
  /** The handshake, authentication included, is through. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'drain' }
  /** Nothing is in flight. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'close' }
  /** The socket broke, the broker closed it, or what it sent makes no sense. */
  | { readonly kind: 'fail'; readonly error: KafkaError }

/** `end`: destroy the socket and fail what is pending. `tell`: the owner has had the connection, and hears of its end. */
export type ConnectionEffect = 'end' | 'tell'

type Stage = ConnectionState['stage']

/** Every legal move; a test walks at random and proves that these happen and no others. */
export const connectionMoves: ReadonlyMap<Stage, readonly Stage[]> = new Map([
  ['handshake', ['open', 'closed']],
  ['open', ['draining', 'closed']],
  ['draining', ['closed']],
  ['closed', []],
])

export function step(
  state: ConnectionState,
  event: ConnectionEvent,
): readonly [ConnectionState, ...ConnectionEffect[]] {
  switch (state.stage) {
    case 'handshake':
      if (event.kind === 'ready') return [{ stage: 'open' }]
      return isEnd(event) ? [closedBy(event), 'end'] : [state]
    case 'open':
      if (event.kind === 'drain') return [{ stage: 'draining' }]
      return isEnd(event) ? [closedBy(event), 'end', 'tell'] : [state]
    case 'draining':
      if (event.kind === 'idle') return [{ stage: 'closed', error: undefined }, 'end', 'tell']
      return isEnd(event) ? [closedBy(event), 'end', 'tell'] : [state]
    case 'closed':
      return [state]
    default:
      return state satisfies never
  }
}

type EndEvent = Extract<ConnectionEvent, { readonly kind: 'close' | 'fail' }>

function isEnd(event: ConnectionEvent): event is EndEvent {
  return event.kind === 'close' || event.kind === 'fail'
}

function closedBy(event: EndEvent): ConnectionState {
  return { stage: 'closed', error: event.kind === 'fail' ? event.error : undefined }
}
