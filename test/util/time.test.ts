import { describe, expect, it, vi } from 'vitest'
import { backoffMs } from '../../src/util/backoff.js'
import { Deadline } from '../../src/util/deadline.js'
import { Deferred } from '../../src/util/deferred.js'
import { SettableClock } from '../../src/util/settable-clock.js'
import { ManualClock } from '../helpers/manual-clock.js'

const hour = 3_600_000

describe('a deadline', () => {
  it('ends a wait with TIMEOUT and the last cause, and leaves no timer', async () => {
    const clock = new ManualClock()
    const deadline = new Deadline(clock, 100)
    const refused = new Error('refused')
    const wait = deadline.race(new Deferred<void>().promise, 'a send', () => refused)
    const failure = expect(wait).rejects.toMatchObject({ code: 'TIMEOUT', cause: refused, retriable: true })
    await clock.advance(100)
    await failure
    expect(clock.pendingTimers).toBe(0)
    expect(() => deadline.check('a send')).toThrow('a send did not finish within 100 ms')
  })

  it('ends a wait with ABORTED by its signal, before it or during it', async () => {
    const clock = new ManualClock()
    const abort = new AbortController()
    const deadline = new Deadline(clock, 100, abort.signal)
    const wait = deadline.race(new Deferred<void>().promise, 'a send')
    abort.abort('enough')
    await expect(wait).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' })
    await expect(deadline.race(Promise.reject(new Error('unseen')), 'a send')).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await expect(deadline.sleep(5)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(clock.pendingTimers).toBe(0)
  })

  it('gives what the promise gives when that comes first', async () => {
    const clock = new ManualClock()
    const deadline = new Deadline(clock, 100)
    await expect(deadline.race(Promise.resolve(7), 'a send')).resolves.toBe(7)
    await expect(deadline.race(Promise.reject(new Error('own')), 'a send')).rejects.toThrow('own')
    expect(clock.pendingTimers).toBe(0)
  })

  it('never sleeps past its end', async () => {
    const clock = new ManualClock()
    const deadline = new Deadline(clock, 100)
    let woke = false
    const sleep = deadline.sleep(hour).then(() => (woke = true))
    await clock.advance(100)
    await sleep
    expect(woke).toBe(true)
    expect(deadline.isOver).toBe(true)
  })

  it('without a time ends only by its signal', async () => {
    const clock = new ManualClock()
    const wait = new Deadline(clock, Infinity).race(Promise.resolve(), 'a send')
    expect(clock.pendingTimers).toBe(0)
    await wait
  })
})

describe('the settable clock', () => {
  it('fires what became due, in order, and lets later ones wait', () => {
    const clock = new SettableClock()
    const fired: string[] = []
    clock.setTimer(2 * hour, () => fired.push('second'))
    clock.setTimer(hour, () => fired.push('first'))
    const later = clock.setTimer(5 * hour, () => fired.push('later'))
    clock.advance(3 * hour)
    expect(fired).toEqual(['first', 'second'])
    clock.advance(hour)
    later.cancel()
    clock.advance(9 * hour)
    expect(fired).toEqual(['first', 'second'])
  })

  it('does not fire a timer that one before it cancelled', () => {
    const clock = new SettableClock()
    const callback = vi.fn()
    clock.setTimer(hour, () => second.cancel())
    const second = clock.setTimer(2 * hour, callback)
    clock.advance(3 * hour)
    expect(callback).not.toHaveBeenCalled()
  })

  it('moves the date and the monotonic time alike', () => {
    const clock = new SettableClock()
    const [now, date] = [clock.now(), clock.date()]
    clock.advance(hour)
    expect(clock.now() - now).toBeGreaterThanOrEqual(hour)
    expect(clock.date() - date).toBeGreaterThanOrEqual(hour)
  })
})

describe('backoff', () => {
  it('doubles up to its limit, give or take a fifth', () => {
    const backoff = { baseMs: 100, maxMs: 1000 }
    expect([1, 2, 3, 4, 5, 60].map((attempt) => backoffMs(backoff, attempt, () => 0.5))).toEqual([
      100, 200, 400, 800, 1000, 1000,
    ])
    expect(backoffMs(backoff, 1, () => 0)).toBe(80)
    expect(backoffMs(backoff, 60, () => 1)).toBeCloseTo(1200)
  })
})
