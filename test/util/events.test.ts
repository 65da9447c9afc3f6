import { describe, expect, it, vi } from 'vitest'
import { Events } from '../../src/util/events.js'

interface Map {
  moved: { readonly to: number }
}

describe('events', () => {
  it('a listener that throws is an uncaught exception, and keeps nobody from the event', () => {
    const thrown: unknown[] = []
    vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) => {
      try {
        task()
      } catch (error) {
        thrown.push(error)
      }
    })
    const events = new Events<Map>()
    const seen: number[] = []
    events.on('moved', () => {
      throw new Error('mine')
    })
    events.on('moved', ({ to }) => seen.push(to))
    events.emit('moved', { to: 1 })
    expect(seen).toEqual([1])
    expect(thrown).toEqual([new Error('mine')])
  })

  it('once() is called once, by events that are awaited too, and off() ends it before', async () => {
    const events = new Events<Map>()
    const seen: string[] = []
    const never = () => seen.push('never')
    events.once('moved', never)
    events.off('moved', never)
    events.on('moved', ({ to }) => seen.push(`every ${to}`))
    events.once('moved', ({ to }) => seen.push(`once ${to}`))
    await events.emitAndWait('moved', { to: 1 })
    await events.emitAndWait('moved', { to: 2 })
    events.once('moved', ({ to }) => seen.push(`again ${to}`))
    events.emit('moved', { to: 3 })
    events.emit('moved', { to: 4 })
    expect(seen).toEqual(['every 1', 'once 1', 'every 2', 'every 3', 'again 3', 'every 4'])
  })

  it('awaits the listeners in order, and has all their errors', async () => {
    const events = new Events<Map>()
    const seen: number[] = []
    events.on('moved', async () => {
      await Promise.resolve()
      seen.push(1)
      throw new Error('first')
    })
    events.on('moved', () => {
      seen.push(2)
      throw new Error('second')
    })
    await expect(events.emitAndWait('moved', { to: 1 })).rejects.toMatchObject({
      errors: [new Error('first'), new Error('second')],
    })
    expect(seen).toEqual([1, 2])
  })
})
