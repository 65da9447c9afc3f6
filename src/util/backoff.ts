// Exponential backoff with jitter, as KIP-580 describes it.

export interface Backoff {
  readonly baseMs: number
  readonly maxMs: number
}

/** Milliseconds to wait before retry `attempt` (1, 2, …): base x 2^(attempt-1), at most max, +-20 %. */
export function backoffMs({ baseMs, maxMs }: Backoff, attempt: number, random: () => number = Math.random): number {
  const exponential = Math.min(maxMs, baseMs * 2 ** (attempt - 1))
  return exponential * (0.8 + 0.4 * random())
}
