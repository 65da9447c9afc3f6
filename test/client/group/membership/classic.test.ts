import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MOVES, step, type ClassicState, type Rebalance } from '../../../../src/client/group/membership/classic.js'
import type { Effect, MembershipEvent } from '../../../../src/client/group/membership/membership.js'
import { KafkaError } from '../../../../src/errors.js'
import { partitionKey, type TopicPartition } from '../../../../src/protocol/topic-partition.js'

const error = (code: string) => new KafkaError(code, { code })
const partitions = (...numbers: number[]): TopicPartition[] => numbers.map((partition) => ({ topic: 't', partition }))
const joined = (generation: number): MembershipEvent => ({
  type: 'joined',
  memberId: 'm',
  generation,
  protocol: 'range',
  members: undefined,
})

/** Runs events from the beginning; returns the last state and all effects. */
function run(rebalance: Rebalance, ...events: MembershipEvent[]): { state: ClassicState; effects: Effect[] } {
  let state: ClassicState = { name: 'idle' }
  const effects: Effect[] = []
  for (const event of events) {
    const [next, ...more] = step(rebalance, state, event)
    state = next
    effects.push(...more)
  }
  return { state, effects }
}

const types = (effects: readonly Effect[]) => effects.map((effect) => effect.type)
const inGroup = (...assigned: number[]): MembershipEvent[] => [
  { type: 'start' },
  joined(1),
  { type: 'synced', assigned: partitions(...assigned) },
]

describe('the classic membership', () => {
  it('joins, synchronises and begins with what it was assigned', () => {
    const { state, effects } = run('eager', ...inGroup(0, 1))
    expect(state).toEqual({ name: 'stable', memberId: 'm', generation: 1, assigned: partitions(0, 1) })
    expect(types(effects)).toEqual(['join', 'sync', 'assign', 'startHeartbeats'])
  })

  it('T58 joins again at once with the id that the broker asks it to use', () => {
    const { state, effects } = run(
      'eager',
      { type: 'start' },
      { type: 'joinFailed', error: error('MEMBER_ID_REQUIRED'), memberId: 'given' },
    )
    expect(state).toMatchObject({ name: 'joining', memberId: 'given' })
    expect(types(effects)).toEqual(['join', 'join'])
  })

  it('gives everything up before an eager rebalance, and joins only when that is done', () => {
    const events: MembershipEvent[] = [...inGroup(0, 1), { type: 'refused', error: error('REBALANCE_IN_PROGRESS') }]
    const before = run('eager', ...events)
    expect(before.state.name).toBe('preparing')
    expect(before.effects.at(-1)).toEqual({ type: 'giveUp', partitions: partitions(0, 1), parting: 'revoked' })
    const after = run('eager', ...events, { type: 'givenUp' })
    expect(after.effects.at(-1)).toMatchObject({ type: 'join', memberId: 'm', owned: [] })
  })

  it('T67 keeps everything over a cooperative rebalance, gives up what was taken away, and joins once more', () => {
    const events: MembershipEvent[] = [
      ...inGroup(0, 1, 2),
      { type: 'refused', error: error('REBALANCE_IN_PROGRESS') },
      joined(2),
      { type: 'synced', assigned: partitions(0, 1) },
    ]
    const revoking = run('cooperative', ...events)
    expect(revoking.state.name).toBe('revoking')
    expect(revoking.effects.at(-1)).toEqual({ type: 'giveUp', partitions: partitions(2), parting: 'revoked' })
    const again = run('cooperative', ...events, { type: 'givenUp' })
    expect(again.effects.at(-1)).toMatchObject({ type: 'join', owned: partitions(0, 1), generation: 2 })
  })

  it('T57 gives an assignment up as lost, never as revoked, when the coordinator forgot the member', () => {
    for (const code of ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION']) {
      const { state, effects } = run(
        'cooperative',
        ...inGroup(0),
        { type: 'refused', error: error(code) },
        { type: 'givenUp' },
      )
      expect(effects).toContainEqual({ type: 'giveUp', partitions: partitions(0), parting: 'lost' })
      expect(state).toMatchObject({ name: 'joining', memberId: code === 'ILLEGAL_GENERATION' ? 'm' : '', owned: [] })
    }
  })

  it('T69 fails for good when another member took the instance id', () => {
    const { state, effects } = run('eager', ...inGroup(0), { type: 'refused', error: error('FENCED_INSTANCE_ID') })
    expect(state).toMatchObject({ name: 'failed', error: { code: 'FENCED_INSTANCE_ID' } })
    expect(types(effects).slice(-3)).toEqual(['stopHeartbeats', 'giveUp', 'fail'])
  })

  it('T59 leaves visibly when a handler takes too long, and joins again when it comes back', () => {
    const events: MembershipEvent[] = [...inGroup(0), { type: 'stalled' }]
    const dormant = run('eager', ...events)
    expect(dormant.effects).toContainEqual({ type: 'giveUp', partitions: partitions(0), parting: 'lost' })
    expect(dormant.effects.at(-1)).toMatchObject({ type: 'leave', memberId: 'm' })
    const back = run('eager', ...events, { type: 'givenUp' }, { type: 'resumed' })
    expect(back.effects.at(-1)).toMatchObject({ type: 'join', memberId: '' })
  })

  it('T82 cancels a parked join and leaves when it is closed', () => {
    const { state, effects } = run(
      'eager',
      { type: 'start' },
      { type: 'joinFailed', error: error('MEMBER_ID_REQUIRED'), memberId: 'given' },
      { type: 'close' },
    )
    expect(state.name).toBe('leaving')
    expect(types(effects).slice(-3)).toEqual(['cancel', 'stopHeartbeats', 'leave'])
  })

  it('gives up and leaves in that order on close', () => {
    const { state, effects } = run('eager', ...inGroup(0), { type: 'close' }, { type: 'givenUp' }, { type: 'left' })
    expect(state.name).toBe('closed')
    expect(types(effects).slice(-3)).toEqual(['giveUp', 'stopHeartbeats', 'leave'])
  })
})

// ---- a random walk

const anyEvent: fc.Arbitrary<MembershipEvent> = fc.oneof(
  fc.constantFrom<MembershipEvent>(
    { type: 'start' },
    { type: 'givenUp' },
    { type: 'rejoin', reason: 'a partition was added' },
    { type: 'stalled' },
    { type: 'resumed' },
    { type: 'left' },
  ),
  fc.integer({ min: 1, max: 9 }).map(joined),
  fc.subarray([0, 1, 2]).map((numbers): MembershipEvent => ({ type: 'synced', assigned: partitions(...numbers) })),
  fc
    .tuple(
      fc.constantFrom('joinFailed' as const, 'syncFailed' as const, 'refused' as const),
      fc.constantFrom(
        'REBALANCE_IN_PROGRESS',
        'UNKNOWN_MEMBER_ID',
        'ILLEGAL_GENERATION',
        'FENCED_INSTANCE_ID',
        'MEMBER_ID_REQUIRED',
      ),
    )
    .map(([type, code]): MembershipEvent => ({
      type,
      error: error(code),
      ...(type === 'joinFailed' ? { memberId: 'given' } : {}),
    })),
)

/** What a shell would hold: which partitions are being read, and which answers are still to come. */
class Shell {
  readonly reading = new Set<string>()
  pending = 0
  beating = false
  answer: 'join' | 'sync' | 'leave' | undefined

  /** Whether a real shell could report this event now. */
  couldReport(event: MembershipEvent): boolean {
    switch (event.type) {
      case 'joined':
      case 'joinFailed':
        return this.answer === 'join'
      case 'synced':
      case 'syncFailed':
        return this.answer === 'sync'
      case 'left':
        return this.answer === 'leave'
      case 'refused':
        return this.beating
      case 'givenUp':
        return this.pending > 0
      default:
        return true
    }
  }

  before(event: MembershipEvent): void {
    if (event.type === 'givenUp') this.pending--
    if (['joined', 'joinFailed', 'synced', 'syncFailed', 'left'].includes(event.type)) this.answer = undefined
  }

  perform(effect: Effect, next: ClassicState): void {
    switch (effect.type) {
      case 'join':
      case 'sync':
        expect(this.answer).toBeUndefined()
        expect(this.pending).toBe(0)
        this.answer = effect.type
        break
      case 'leave':
        if (next.name === 'leaving') this.answer = 'leave' // of a dormant member nobody waits for the answer
        break
      case 'cancel':
        this.answer = undefined
        break
      case 'giveUp':
        this.pending++
        expect(effect.partitions.length).toBeGreaterThan(0)
        for (const key of effect.partitions.map(partitionKey)) expect(this.reading.delete(key)).toBe(true)
        break
      case 'assign':
        for (const key of effect.added.map(partitionKey)) {
          expect(this.reading.has(key)).toBe(false)
          this.reading.add(key)
        }
        break
      case 'startHeartbeats':
      case 'stopHeartbeats':
        this.beating = effect.type === 'startHeartbeats'
        break
      case 'fail':
        break
    }
  }
}

describe.each<Rebalance>(['eager', 'cooperative'])('a random walk of the %s membership', (rebalance) => {
  it('makes only legal moves and never reads what it does not own', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.boolean(), (events, closes) => {
        let state: ClassicState = { name: 'idle' }
        const shell = new Shell()
        for (const event of [...events, ...(closes ? [{ type: 'close' } as const] : [])]) {
          if (!shell.couldReport(event)) continue
          shell.before(event)
          const [next, ...effects] = step(rebalance, state, event)
          if (next !== state) expect(MOVES[state.name]).toContain(next.name)
          for (const effect of effects) shell.perform(effect, next)
          state = next
          if (state.name === 'stable')
            expect([...shell.reading].sort()).toEqual(state.assigned.map(partitionKey).sort())
          if (['failed', 'closed', 'leaving', 'dormant'].includes(state.name)) {
            expect(shell.reading.size).toBe(0)
            expect(shell.beating).toBe(false)
          }
        }
      }),
      { numRuns: 2000 },
    )
  })
})

it('every move of the table is made by some walk, eager or cooperative', () => {
  const made = new Set<string>()
  const random = fc.sample(fc.array(anyEvent, { minLength: 10, maxLength: 60 }), { numRuns: 6000, seed: 1 })
  for (const [i, events] of random.entries()) {
    const rebalance = i % 2 === 0 ? 'eager' : 'cooperative'
    let state: ClassicState = { name: 'idle' }
    const shell = new Shell()
    const closeAt = i % 61
    for (const [n, event] of events.entries()) {
      for (const one of n === closeAt ? [{ type: 'close' } as const, event] : [event]) {
        if (!shell.couldReport(one)) continue
        shell.before(one)
        const [next, ...effects] = step(rebalance, state, one)
        if (next !== state) made.add(`${state.name} -> ${next.name}`)
        for (const effect of effects) shell.perform(effect, next)
        state = next
      }
    }
  }
  const table = Object.entries(MOVES).flatMap(([from, targets]) => targets.map((to) => `${from} -> ${to}`))
  expect([...made].sort()).toEqual(table.sort())
})
