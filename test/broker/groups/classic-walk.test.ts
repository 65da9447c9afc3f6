// A random walk over classic groups: whatever comes, only legal moves happen, and every one of them does.
import { serialize } from 'node:v8'
import { describe, expect, test } from 'vitest'
import {
  MOVES,
  newGroup,
  type GroupEffect,
  type GroupEvent,
  type GroupState,
} from '../../../src/broker/groups/classic-group.js'
import { step } from '../../../src/broker/groups/classic-step.js'
import { joinEvent } from './classic-events.js'

type Random = () => number

function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

class Walk {
  state: GroupState = newGroup
  readonly random: Random
  readonly moves = new Set<string>()
  /** Tickets whose answer is owed. */
  readonly owed = new Set<number>()
  readonly timers = new Set<string>()
  #ticket = 0

  constructor(random: Random) {
    this.random = random
  }

  get #ids(): string[] {
    const { state } = this
    if (state.kind === 'Dead') return ['ghost']
    return ['ghost', ...state.pending, ...('members' in state ? state.members.keys() : [])]
  }

  #event(): GroupEvent {
    const { random } = this
    const ticket = this.#ticket++
    const memberId = pick(random, this.#ids)
    const instanceId = random() < 0.2 ? pick(random, ['i1', 'i2']) : null
    const current = this.state.kind === 'Dead' ? 0 : this.state.generation
    const generation = random() < 0.9 ? current : current - 1
    const timer = [...this.timers]
    switch (
      pick(random, [
        'join',
        'join',
        'rejoin',
        'rejoin',
        'rejoin',
        'sync',
        'sync',
        'sync',
        'heartbeat',
        'leave',
        'timer',
        'timer',
        'end',
      ])
    ) {
      case 'join':
        return joinEvent(ticket, '', {
          instanceId,
          requiresKnownMemberId: random() < 0.5,
          canSkipAssignment: random() < 0.5,
          limits: { maxSize: 4, initialDelayMs: pick(random, [0, 3_000]) },
          protocols: pick(random, [
            [{ name: 'range', metadata: Buffer.from('x') }],
            [
              { name: 'sticky', metadata: Buffer.from('y') },
              { name: 'range', metadata: Buffer.from('x') },
            ],
            [{ name: 'alien', metadata: Buffer.from('z') }],
          ]),
        })
      case 'rejoin':
        return joinEvent(ticket, memberId, {
          instanceId: random() < 0.1 ? instanceId : null,
          protocols: [{ name: 'range', metadata: Buffer.from(pick(random, ['x', 'x2'])) }],
          limits: { maxSize: 4, initialDelayMs: 0 },
        })
      case 'sync': {
        const assignments = new Map([[memberId, Buffer.from('a')]])
        const leader = 'leader' in this.state ? this.state.leader : null
        const by = random() < 0.5 && leader !== null ? leader : memberId
        return {
          kind: 'sync',
          ticket,
          memberId: by,
          instanceId: null,
          generation,
          protocolType: null,
          protocol: null,
          assignments,
        }
      }
      case 'heartbeat':
        return { kind: 'heartbeat', ticket, memberId, instanceId: null, generation }
      case 'leave':
        return {
          kind: 'leave',
          ticket,
          members: [{ memberId: random() < 0.2 ? '' : memberId, instanceId, reason: null }],
        }
      case 'timer': {
        const due = pick(random, timer.length > 0 ? timer : ['join'])
        this.timers.delete(due)
        if (due === 'join') return { kind: 'joinTimeout' }
        return due === 'sync' ? { kind: 'syncTimeout' } : { kind: 'sessionTimeout', memberId: due.slice(8) }
      }
      default:
        if (random() < 0.9) return { kind: 'committed', memberId }
        return { kind: pick(random, ['delete', 'unload'] as const) }
    }
  }

  next(): void {
    const event = this.#event()
    if ('ticket' in event) this.owed.add(event.ticket)
    const before = this.state
    const copy = serialize(before)
    const [state, ...effects] = step(before, event)
    expect(serialize(before).equals(copy), `${event.kind} leaves the state it was given alone`).toBe(true)
    this.state = state
    let at = before.kind
    for (const effect of effects) at = this.#see(effect, at)
    expect(at).toBe(state.kind)
    if ('generation' in before && 'generation' in state)
      expect(state.generation).toBeGreaterThanOrEqual(before.generation)
    this.#checkState()
    if (state.kind === 'Dead') {
      this.state = newGroup
      this.timers.clear()
    }
  }

  #see(effect: GroupEffect, at: GroupState['kind']): GroupState['kind'] {
    if (effect.kind === 'moved') {
      expect(effect.from).toBe(at)
      expect(MOVES[effect.from]).toContain(effect.to)
      this.moves.add(`${effect.from} -> ${effect.to}`)
      return effect.to
    }
    if ('ticket' in effect) expect(this.owed.delete(effect.ticket), `${effect.kind} ${effect.ticket} once`).toBe(true)
    if ('timer' in effect) {
      const { timer } = effect
      const key = timer.of === 'session' ? `session ${timer.memberId}` : timer.of
      if (effect.kind === 'setTimer') this.timers.add(key)
      else this.timers.delete(key)
    }
    return at
  }

  #checkState(): void {
    const { state } = this
    const members = 'members' in state ? [...state.members.values()] : []
    // Nobody is forgotten, and nobody is promised an answer that nothing can bring.
    expect(members.flatMap(({ parked }) => (parked ? [parked.ticket] : [])).sort()).toEqual([...this.owed].sort())
    if (state.kind === 'Dead') return
    for (const id of state.pending) expect(this.timers).toContain(`session ${id}`)
    for (const { memberId, parked } of members) if (!parked) expect(this.timers).toContain(`session ${memberId}`)
    if (state.kind === 'PreparingRebalance') expect(this.timers).toContain('join')
    if (state.kind !== 'CompletingRebalance' && state.kind !== 'Stable') return
    expect(state.leader).not.toBeNull()
    expect(state.members.has(state.leader as string)).toBe(true)
    expect(this.timers.has('sync')).toBe(state.pendingSync.size > 0)
    const instances = members.flatMap(({ instanceId }) => instanceId ?? [])
    expect(new Set(instances).size).toBe(instances.length)
    if (state.kind === 'Stable') expect(members.every(({ parked }) => parked === null)).toBe(true)
    for (const { parked } of members) if (parked) expect(parked.in).toBe('sync')
  }
}

describe('a random walk over classic groups', () => {
  test('makes all the legal moves and no other, and owes exactly the answers that members wait for', () => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= 40; seed++) {
      const walk = new Walk(randomFrom(seed))
      for (let i = 0; i < 400; i++) walk.next()
      for (const move of walk.moves) seen.add(move)
    }
    const legal = Object.entries(MOVES).flatMap(([from, targets]) => targets.map((to) => `${from} -> ${to}`))
    expect([...seen].sort()).toEqual(legal.sort())
  })
})
