import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  closedSession,
  MOVES,
  stepSession,
  type SessionPartition,
  type SessionRequest,
  type SessionState,
} from '../../../src/client/consumer/fetch-session.js'
import { errorCodes } from '../../../src/protocol/messages/error-table.js'

const at = (partition: number, fetchOffset: number, leaderEpoch = 3): SessionPartition => ({
  key: `orders:${partition}`,
  topic: 'orders',
  topicId: 'AAAAAAAAAAAAAAAAAAAAAQ',
  partition,
  fetchOffset,
  maxBytes: 1024,
  leaderEpoch,
})

function send(
  state: SessionState,
  partitions: readonly SessionPartition[],
  usesIds = true,
): [SessionState, SessionRequest] {
  const [next, request] = stepSession(state, { type: 'send', usesIds, partitions })
  if (request === undefined) throw new Error('no request')
  return [next, request]
}

function opened(partitions: readonly SessionPartition[]): SessionState {
  return stepSession(send(closedSession, partitions)[0], { type: 'answer', errorCode: 0, sessionId: 77 })[0]
}

describe('a fetch session', () => {
  test('opens with everything, then names only what changed', () => {
    const [opening, first] = send(closedSession, [at(0, 5), at(1, 6)])
    expect(first).toEqual({ sessionId: 0, sessionEpoch: 0, send: [at(0, 5), at(1, 6)], forget: [] })
    const [open] = stepSession(opening, { type: 'answer', errorCode: 0, sessionId: 77 })
    const [asking, second] = send(open, [at(0, 9), at(1, 6)])
    expect(second).toEqual({ sessionId: 77, sessionEpoch: 1, send: [at(0, 9)], forget: [] })
    const [again] = stepSession(asking, { type: 'answer', errorCode: 0, sessionId: 77 })
    const [, third] = send(again, [at(0, 9), at(1, 6)])
    expect(third).toEqual({ sessionId: 77, sessionEpoch: 2, send: [], forget: [] })
  })

  test('T44 a partition that is taken away is sent as forgotten, once', () => {
    const [asking, request] = send(opened([at(0, 5), at(1, 6)]), [at(1, 6)])
    expect(request.forget).toEqual([at(0, 5)])
    const [open] = stepSession(asking, { type: 'answer', errorCode: 0, sessionId: 77 })
    expect(send(open, [at(1, 6)])[1].forget).toEqual([])
  })

  test('T44 a session the broker does not know is replaced by a new one with everything', () => {
    const [asking] = send(opened([at(0, 5)]), [at(0, 5)])
    const [closed] = stepSession(asking, {
      type: 'answer',
      errorCode: errorCodes.FETCH_SESSION_ID_NOT_FOUND,
      sessionId: 0,
    })
    expect(send(closed, [at(0, 5)])[1]).toEqual({ sessionId: 0, sessionEpoch: 0, send: [at(0, 5)], forget: [] })
  })

  test('T44 after a wrong epoch or a lost answer the old session is closed by the request that opens the next', () => {
    const [asking] = send(opened([at(0, 5)]), [at(0, 5)])
    const wrongEpoch = { type: 'answer', errorCode: errorCodes.INVALID_FETCH_SESSION_EPOCH, sessionId: 0 } as const
    for (const event of [wrongEpoch, { type: 'lost' } as const]) {
      const [closed] = stepSession(asking, event)
      expect(send(closed, [at(0, 5)])[1]).toMatchObject({ sessionId: 77, sessionEpoch: 0, send: [at(0, 5)] })
    }
  })

  test('T44 a broker without room for sessions is asked for everything each time', () => {
    const [opening] = send(closedSession, [at(0, 5)])
    const [state] = stepSession(opening, { type: 'answer', errorCode: 0, sessionId: 0 })
    expect(send(state, [at(0, 5)])[1]).toEqual({ sessionId: 0, sessionEpoch: 0, send: [at(0, 5)], forget: [] })
  })

  test('names and topic ids never mix in one session', () => {
    const [, request] = send(opened([at(0, 5)]), [at(0, 5)], false)
    expect(request).toMatchObject({ sessionId: 77, sessionEpoch: 0, send: [at(0, 5)] })
  })

  test('the epoch after the largest is 1', () => {
    const open: SessionState = {
      kind: 'open',
      id: 77,
      epoch: 0x7fffffff,
      usesIds: true,
      partitions: new Map([[at(0, 5).key, at(0, 5)]]),
    }
    const [asking] = send(open, [at(0, 5)])
    expect(stepSession(asking, { type: 'answer', errorCode: 0, sessionId: 77 })[0]).toMatchObject({ epoch: 1 })
  })

  test('an event that does not fit the state throws', () => {
    expect(() => stepSession(closedSession, { type: 'lost' })).toThrow("closed cannot take the event 'lost'")
    expect(() => stepSession(opened([]), { type: 'answer', errorCode: 0, sessionId: 1 })).toThrow('open cannot take')
    expect(() => send(send(closedSession, [])[0], [])).toThrow('opening cannot take')
  })

  test('a random walk makes all the moves of the table and no other, and the broker never remembers less than is wanted', () => {
    const seen = new Set<string>()
    const wanted = fc.uniqueArray(fc.record({ partition: fc.nat(4), offset: fc.nat(3) }), {
      selector: (p) => p.partition,
    })
    const turn = fc.record({ wanted, usesIds: fc.boolean(), answer: fc.constantFrom(0, 0, 0, 70, 71, 'lost', 'full') })
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 30 }), (turns) => {
        let state: SessionState = closedSession
        // What a broker would know, from the requests alone.
        let remembered = new Map<string, SessionPartition>()
        const move = (next: SessionState) => {
          expect(MOVES[state.kind]).toContain(next.kind)
          seen.add(`${state.kind}>${next.kind}`)
          state = next
        }
        for (const { wanted, usesIds, answer } of turns) {
          const partitions = wanted.map(({ partition, offset }) => at(partition, offset))
          const [asked, request] = send(state, partitions, usesIds)
          move(asked)
          if (request.sessionEpoch === 0) remembered = new Map()
          for (const partition of request.forget) remembered.delete(partition.key)
          for (const partition of request.send) remembered.set(partition.key, partition)
          expect([...remembered.values()].sort(byPartition)).toEqual([...partitions].sort(byPartition))
          if (answer === 'lost') move(stepSession(state, { type: 'lost' })[0])
          else if (answer === 'full') move(stepSession(state, { type: 'answer', errorCode: 0, sessionId: 0 })[0])
          else
            move(
              stepSession(state, { type: 'answer', errorCode: answer as number, sessionId: answer === 0 ? 9 : 0 })[0],
            )
        }
      }),
    )
    const all = Object.entries(MOVES).flatMap(([from, tos]) => tos.map((to) => `${from}>${to}`))
    expect([...seen].sort()).toEqual(all.sort())
  })
})

const byPartition = (a: SessionPartition, b: SessionPartition) => a.partition - b.partition
