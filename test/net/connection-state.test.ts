import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConnectionError } from '../../src/errors.js'
import { connectionMoves, step, type ConnectionEvent, type ConnectionState } from '../../src/net/connection-state.js'

const error = new ConnectionError('broken')
const events: readonly ConnectionEvent[] = [
  { kind: 'ready' },
  { kind: 'drain' },
  { kind: 'idle' },
  { kind: 'close' },
  { kind: 'fail', error },
]

describe('the life of a connection', () => {
  it('T112 has only the moves of its table, and each of them happens', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 12 }), (walk) => {
        let state: ConnectionState = { stage: 'handshake' }
        let ends = 0
        let wasOpen = false
        for (const event of walk) {
          const [next, ...effects] = step(state, event)
          if (next !== state) {
            expect(connectionMoves.get(state.stage)).toContain(next.stage)
            seen.add(`${state.stage} -> ${next.stage}`)
          }
          if (next.stage === 'open') wasOpen = true
          if (effects.includes('end')) ends++
          expect(effects.includes('tell')).toBe(effects.includes('end') && wasOpen)
          expect(next.stage === 'closed').toBe(ends === 1)
          state = next
        }
        expect(ends).toBeLessThanOrEqual(1)
      }),
      { numRuns: 2000 },
    )
    const all = [...connectionMoves].flatMap(([from, targets]) => targets.map((to) => `${from} -> ${to}`))
    expect([...seen].sort()).toEqual(all.sort())
  })

  it('remembers why it ended, unless it was closed from our side', () => {
    expect(step({ stage: 'open' }, { kind: 'fail', error })[0]).toEqual({ stage: 'closed', error })
    expect(step({ stage: 'open' }, { kind: 'close' })[0]).toEqual({ stage: 'closed', error: undefined })
    expect(step({ stage: 'draining' }, { kind: 'idle' })[0]).toEqual({ stage: 'closed', error: undefined })
  })
})
