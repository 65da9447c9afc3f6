// A group at its coordinator: holds the state, the timers and the requests that wait, and performs what the step function says.
// Decides nothing itself.
import type { Timer } from '../../util/clock.js'
import type { ClusterState } from '../cluster-state.js'
import type { GroupEffect, GroupEvent, GroupState, GroupTimer, Reply, Ticket } from './classic-group.js'
import { step } from './classic-step.js'
import { recordOf, stateFrom, type StoredGroup } from './stored-group.js'

export class LiveGroup {
  readonly groupId: string
  /** The broker that coordinates it. */
  readonly brokerId: number
  readonly stored: StoredGroup
  readonly #cluster: ClusterState
  readonly #timers = new Map<string, Timer>()
  readonly #waiting = new Map<Ticket, (reply: Reply) => void>()
  #state: GroupState
  #since: number
  #nextTicket = 0

  /** Takes the group over from what is stored; members get a whole session to show up. */
  constructor(groupId: string, brokerId: number, stored: StoredGroup, cluster: ClusterState) {
    this.groupId = groupId
    this.brokerId = brokerId
    this.stored = stored
    this.#cluster = cluster
    this.#since = stored.record.since
    this.#state = stateFrom(stored.record)
    for (const { memberId, sessionTimeoutMs } of stored.record.members)
      this.#setTimer({ of: 'session', memberId }, sessionTimeoutMs)
  }

  get state(): GroupState {
    return this.#state
  }

  /** When the group came into its state, in milliseconds since the Unix epoch. */
  get since(): number {
    return this.#since
  }

  /** Hands in a request. The answer comes at once where it can; a promise is one that waits for other members. */
  request<R extends Reply>(event: (ticket: Ticket) => GroupEvent): R | Promise<R> {
    const ticket = this.#nextTicket++
    let answer: Reply | undefined
    this.#waiting.set(ticket, (reply) => (answer = reply))
    this.handle(event(ticket))
    if (answer !== undefined) return answer as R
    return new Promise<Reply>((resolve) => this.#waiting.set(ticket, resolve)) as Promise<R>
  }

  handle(event: GroupEvent): void {
    const [state, ...effects] = step(this.#state, event)
    this.#state = state
    for (const effect of effects) this.#perform(effect)
    if (state.kind === 'Dead') this.#stop()
  }

  #perform(effect: GroupEffect): void {
    switch (effect.kind) {
      case 'setTimer':
        this.#setTimer(effect.timer, effect.delayMs)
        return
      case 'cancelTimer':
        this.#cancelTimer(keyOf(effect.timer))
        return
      case 'persist':
        this.stored.record = recordOf(this.#state, this.#since) ?? this.stored.record
        return
      case 'moved':
        this.#since = this.#cluster.clock.date()
        this.#cluster.log('info', `group ${this.groupId}: ${effect.from} -> ${effect.to} (${effect.reason})`)
        return
      case 'abandon':
        this.#waiting.delete(effect.ticket)
        return
      default:
        this.#answer(effect)
    }
  }

  #answer(reply: Reply): void {
    const waiting = this.#waiting.get(reply.ticket)
    this.#waiting.delete(reply.ticket)
    waiting?.(reply)
  }

  #setTimer(timer: GroupTimer, delayMs: number): void {
    const key = keyOf(timer)
    this.#cancelTimer(key)
    const set = this.#cluster.clock.setTimer(delayMs, () => {
      this.#timers.delete(key)
      this.handle(timeoutOf(timer))
    })
    this.#timers.set(key, set)
  }

  #cancelTimer(key: string): void {
    this.#timers.get(key)?.cancel()
    this.#timers.delete(key)
  }

  #stop(): void {
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }
}

function keyOf(timer: GroupTimer): string {
  return timer.of === 'session' ? `session ${timer.memberId}` : timer.of
}

function timeoutOf(timer: GroupTimer): GroupEvent {
  switch (timer.of) {
    case 'join':
      return { kind: 'joinTimeout' }
    case 'sync':
      return { kind: 'syncTimeout' }
    case 'session':
      return { kind: 'sessionTimeout', memberId: timer.memberId }
    default:
      return timer satisfies never
  }
}
