import { describe, expect, it } from 'vitest'
import { staggered } from '../../src/net/staggered.js'
import { Deferred } from '../../src/util/deferred.js'
import { ManualClock } from '../helpers/manual-clock.js'

describe('staggered attempts', () => {
  it('T98 starts the next one when one keeps us waiting, and drops what comes late', async () => {
    const clock = new ManualClock()
    const [first, second] = [new Deferred<string>(), new Deferred<string>()]
    const started: string[] = []
    const late: string[] = []
    const aborted: string[] = []
    const winner = staggered(
      [first, second].map((deferred, i) => (signal: AbortSignal) => {
        started.push(`${i} at ${clock.now()}`)
        signal.addEventListener('abort', () => aborted.push(`${i}`))
        return deferred.promise
      }),
      { clock, staggerMs: 250, onLate: (value) => late.push(value) },
    )
    await clock.advance(249)
    expect(started).toEqual(['0 at 0'])
    await clock.advance(1)
    expect(started).toEqual(['0 at 0', '1 at 250'])
    second.resolve('second')
    expect(await winner).toBe('second')
    expect(aborted).toEqual(['0', '1'])
    first.resolve('first')
    await clock.advance(1000)
    expect(late).toEqual(['first'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('starts the next one at once when one fails, and tells of all when all do', async () => {
    const clock = new ManualClock()
    const fail = (text: string) => () => Promise.reject(new Error(text))
    const outcome = staggered([fail('a'), fail('b')], { clock, staggerMs: 250 })
    await expect(outcome).rejects.toMatchObject({ errors: [{ message: 'a' }, { message: 'b' }] })
    expect(clock.now()).toBe(0)
    expect(clock.pendingTimers).toBe(0)
    await expect(staggered([], { clock, staggerMs: 250 })).rejects.toBeInstanceOf(AggregateError)
  })

  it('ends with its signal', async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const outcome = staggered([() => new Promise<never>(() => {}), () => new Promise<never>(() => {})], {
      clock,
      staggerMs: 250,
      signal: controller.signal,
    })
    controller.abort(new Error('enough'))
    await expect(outcome).rejects.toThrow('enough')
    expect(clock.pendingTimers).toBe(0)
  })
})
