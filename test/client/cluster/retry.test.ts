import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { withRetries, type RetryOptions } from '../../../src/client/cluster/retry.js'
import { KafkaError, timeoutError, UsageError } from '../../../src/errors.js'
import { Deadline } from '../../../src/util/deadline.js'
import { ManualClock } from '../../helpers/manual-clock.js'

const retriable = new KafkaError('not now', { code: 'COORDINATOR_LOAD_IN_PROGRESS', retriable: true })

function setUp(timeoutMs = 10_000, signal?: AbortSignal) {
  const clock = new ManualClock()
  const retries: number[] = []
  const running = new Set<AbortController>()
  const options: RetryOptions = {
    what: 'the work',
    deadline: new Deadline(clock, timeoutMs, signal),
    backoff: { baseMs: 100, maxMs: 1000 },
    running,
    onRetry: (_, attempt) => retries.push(attempt),
  }
  return { clock, retries, running, options }
}

describe('the retry layer', () => {
  it('waits longer and longer, by the clock it is given, and tells of each wait', async () => {
    const { clock, retries, running, options } = setUp()
    const at: number[] = []
    const outcome = withRetries(options, async (_, attempt) => {
      at.push(clock.now())
      if (attempt < 6) throw retriable
      return 'done'
    })
    await clock.advance(9000)
    expect(await outcome).toBe('done')
    expect(retries).toEqual([1, 2, 3, 4, 5])
    const waits = at.slice(1).map((time, i) => time - at[i]!)
    for (const [i, expected] of [100, 200, 400, 800, 1000].entries()) {
      expect(waits[i]! / expected).toBeGreaterThanOrEqual(0.8)
      expect(waits[i]! / expected).toBeLessThanOrEqual(1.2)
    }
    expect([running.size, clock.pendingTimers]).toEqual([0, 0])
  })

  it('T08 ends at its deadline, not later, whatever the attempts do, and names the last cause', async () => {
    const { clock, options } = setUp(1000)
    const failing = withRetries(options, () => Promise.reject(retriable))
    const hanging = withRetries(options, () => new Promise<never>(() => {}))
    const outcomes = Promise.allSettled([failing, hanging])
    await clock.advance(999)
    await clock.advance(1)
    expect(await outcomes).toMatchObject([
      { reason: { code: 'TIMEOUT', cause: retriable, message: 'the work did not finish within 1000 ms' } },
      { reason: { code: 'TIMEOUT' } },
    ])
    expect(clock.pendingTimers).toBe(0)
  })

  it('T08 names what failed before, not that the last attempt was cut short by the end of the time', async () => {
    const { clock, options } = setUp(1000)
    const outcome = withRetries(options, async (deadline, attempt) => {
      if (attempt === 1) throw retriable
      await clock.sleep(deadline.remainingMs() - 1) // a timer that fires a millisecond early
      throw timeoutError('the request', 1000)
    })
    const settled = expect(outcome).rejects.toMatchObject({ code: 'TIMEOUT', cause: retriable })
    await clock.advance(1000)
    await settled
  })

  it('gives attempts a deadline that ends with the operation', async () => {
    const { clock, options } = setUp(500)
    let inner: Deadline | undefined
    const outcome = withRetries(options, async (deadline) => {
      inner = deadline
      await deadline.sleep(10_000)
    })
    const settled = expect(outcome).rejects.toMatchObject({ code: 'TIMEOUT' })
    await clock.advance(100)
    expect(inner?.remainingMs()).toBe(400)
    await clock.advance(400)
    await settled
    expect(inner?.signal?.aborted).toBe(true)
  })

  it.each([
    ['an error that is final', new KafkaError('no', { code: 'GROUP_AUTHORIZATION_FAILED' })],
    ['a misuse', new UsageError('no')],
    ['a defect', new TypeError('x is not a function')],
    ['a foreign error', new Error('what')],
  ])('does not repeat %s', async (_, error) => {
    const { retries, options } = setUp()
    await expect(withRetries(options, () => Promise.reject(error))).rejects.toBe(error)
    expect(retries).toEqual([])
  })

  it('T113 ends by the caller’s signal, and leaves no listener on it', async () => {
    const controller = new AbortController()
    const { clock, running, options } = setUp(Infinity, controller.signal)
    const outcome = withRetries(options, () => Promise.reject(retriable))
    const settled = expect(outcome).rejects.toMatchObject({ code: 'ABORTED' })
    await clock.advance(50)
    controller.abort()
    await settled
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    expect([running.size, clock.pendingTimers]).toEqual([0, 0])
    await expect(withRetries(options, () => Promise.resolve(1))).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('ends by its owner', async () => {
    const { clock, running, options } = setUp(Infinity)
    const outcome = withRetries(options, () => Promise.reject(retriable))
    const closed = new KafkaError('closed', { code: 'CLOSED' })
    const settled = expect(outcome).rejects.toBe(closed)
    await clock.advance(10)
    for (const operation of running) operation.abort(closed)
    await settled
    expect(clock.pendingTimers).toBe(0)
  })
})
