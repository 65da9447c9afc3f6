import { describe, expect, it } from 'vitest'
import { BufferPool } from '../../../src/protocol/records/buffer-pool.js'

describe('BufferPool', () => {
  it('gives a returned buffer out again for what fits its size', () => {
    const pool = new BufferPool()
    const buffer = pool.take(5000)
    expect(buffer.length).toBe(8192)
    pool.give(buffer)
    expect(pool.idleBytes).toBe(8192)
    expect(pool.take(4096)).not.toBe(buffer)
    expect(pool.take(4097)).toBe(buffer)
    expect(pool.idleBytes).toBe(0)
  })

  it('gives memory of its own, not a piece of a shared slab', () => {
    expect(new BufferPool().take(10).buffer.byteLength).toBe(1024)
  })

  it('keeps no more than its limit and nothing that is not its own', () => {
    const pool = new BufferPool()
    const buffers = Array.from({ length: 20 }, () => pool.take(1 << 20))
    for (const buffer of buffers) pool.give(buffer)
    expect(pool.idleBytes).toBe(8 << 20)
    const other = new BufferPool()
    other.give(Buffer.alloc(1500))
    other.give(other.take((4 << 20) + 1))
    expect(other.idleBytes).toBe(0)
  })
})
