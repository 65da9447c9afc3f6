// The memory of open batches: buffers of power-of-two sizes that are used again instead of being allocated anew.
// Each has memory of its own, so that a small one never pins a slab shared with others.

const smallestSize = 1 << 10
const largestPooledSize = 1 << 22
/** What may lie unused; above it returned buffers are left to the garbage collector. */
const maxIdleBytes = 8 << 20

export class BufferPool {
  readonly #free: Buffer[][] = []
  #idleBytes = 0

  get idleBytes(): number {
    return this.#idleBytes
  }

  /** A buffer of at least `size` bytes with arbitrary content. */
  take(size: number): Buffer {
    if (size > largestPooledSize) return Buffer.allocUnsafeSlow(size)
    const power = size <= smallestSize ? 10 : 32 - Math.clz32(size - 1)
    const buffer = this.#free[power]?.pop()
    if (buffer === undefined) return Buffer.allocUnsafeSlow(1 << power)
    this.#idleBytes -= buffer.length
    return buffer
  }

  /** Takes a buffer back. The caller must not touch it, nor any view of it, afterwards. */
  give(buffer: Buffer): void {
    const size = buffer.length
    if (size < smallestSize || size > largestPooledSize || (size & (size - 1)) !== 0) return
    if (this.#idleBytes + size > maxIdleBytes) return
    this.#idleBytes += size
    ;(this.#free[31 - Math.clz32(size)] ??= []).push(buffer)
  }
}

/** The one pool of the process. */
export const batchBuffers = new BufferPool()
