// Events for the step function of classic groups, with the values that most tests do not care about.
import type { GroupEffect, GroupEvent, GroupState, JoinEvent, Reply } from '../../../src/broker/groups/classic-group.js'
import { newGroup } from '../../../src/broker/groups/classic-group.js'
import { step } from '../../../src/broker/groups/classic-step.js'
import { ConsumerProtocolSubscription } from '../../../src/protocol/messages/consumer-protocol.js'
import { Writer } from '../../../src/protocol/wire/index.js'

export function subscription(...topics: string[]): Buffer {
  const writer = new Writer()
  writer.int16(0)
  ConsumerProtocolSubscription.write(writer, 0, { topics })
  return Buffer.concat(writer.finish())
}

export function joinEvent(ticket: number, memberId: string, more: Partial<JoinEvent> = {}): JoinEvent {
  return {
    kind: 'join',
    ticket,
    memberId,
    newMemberId: `new-${ticket}`,
    instanceId: null,
    clientId: 'client',
    clientHost: '127.0.0.1',
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 60_000,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: subscription('orders') }],
    requiresKnownMemberId: false,
    canSkipAssignment: true,
    reason: null,
    limits: { maxSize: 100, initialDelayMs: 0 },
    ...more,
  }
}

/** A group driven by hand: every event's effects, and all replies by ticket. */
export class Script {
  state: GroupState = newGroup
  effects: readonly GroupEffect[] = []
  readonly replies = new Map<number, Reply>()

  give(event: GroupEvent): this {
    const [state, ...effects] = step(this.state, event)
    this.state = state
    this.effects = effects
    for (const effect of effects)
      if ('ticket' in effect && effect.kind !== 'abandon') this.replies.set(effect.ticket, effect)
    return this
  }

  join(ticket: number, memberId = '', more: Partial<JoinEvent> = {}): this {
    return this.give(joinEvent(ticket, memberId, more))
  }

  sync(
    ticket: number,
    memberId: string,
    assignments: Readonly<Record<string, string>> = {},
    generation = this.generation,
  ): this {
    return this.give({
      kind: 'sync',
      ticket,
      memberId,
      instanceId: null,
      generation,
      protocolType: null,
      protocol: null,
      assignments: new Map(Object.entries(assignments).map(([id, text]) => [id, Buffer.from(text)])),
    })
  }

  heartbeat(ticket: number, memberId: string, generation = this.generation, instanceId: string | null = null): this {
    return this.give({ kind: 'heartbeat', ticket, memberId, instanceId, generation })
  }

  leave(ticket: number, ...memberIds: string[]): this {
    return this.give({
      kind: 'leave',
      ticket,
      members: memberIds.map((memberId) => ({ memberId, instanceId: null, reason: null })),
    })
  }

  /** The first rebalance has waited long enough: once more for each time somebody came meanwhile. */
  delayIsOver(): this {
    while (this.state.kind === 'PreparingRebalance') this.give({ kind: 'joinTimeout' })
    return this
  }

  /** Members new-1 … new-n, stable, led by new-1. */
  stable(members: number, more: (at: number) => Partial<JoinEvent> = () => ({})): this {
    for (let at = 1; at <= members; at++) this.join(at, '', more(at))
    this.delayIsOver()
    for (let at = members; at >= 1; at--)
      this.sync(100 + at, `new-${at}`, Object.fromEntries(this.memberIds.map((id) => [id, `part of ${id}`])))
    return this
  }

  get generation(): number {
    return this.state.kind === 'Dead' ? -1 : this.state.generation
  }

  get memberIds(): string[] {
    return 'members' in this.state ? [...this.state.members.keys()] : []
  }

  error(ticket: number): string | undefined {
    return this.replies.get(ticket)?.error
  }

  /** The moves of the last event. */
  get moves(): string[] {
    return this.effects.flatMap((effect) => (effect.kind === 'moved' ? `${effect.from} -> ${effect.to}` : []))
  }

  timer(of: 'join' | 'sync' | { memberId: string }): number | 'cancelled' | undefined {
    const key = typeof of === 'string' ? of : `session ${of.memberId}`
    let found: number | 'cancelled' | undefined
    for (const effect of this.effects) {
      if (effect.kind !== 'setTimer' && effect.kind !== 'cancelTimer') continue
      const { timer } = effect
      if ((timer.of === 'session' ? `session ${timer.memberId}` : timer.of) !== key) continue
      found = effect.kind === 'setTimer' ? effect.delayMs : 'cancelled'
    }
    return found
  }
}
