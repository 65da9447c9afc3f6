// At which offset each leader epoch began in a partition's log (KIP-101): what OffsetForLeaderEpoch is answered from.

export interface EpochStart {
  readonly epoch: number
  readonly startOffset: number
}

export class LeaderEpochs {
  readonly #starts: EpochStart[] = []

  get latest(): EpochStart | undefined {
    return this.#starts[this.#starts.length - 1]
  }

  /** A leader begins an epoch at the end of its log. An epoch that got no records is forgotten for the next one. */
  assign(epoch: number, startOffset: number): void {
    while (this.latest !== undefined && this.latest.startOffset >= startOffset) this.#starts.pop()
    this.#starts.push({ epoch, startOffset })
  }

  /** The largest epoch that is at most `epoch`, and where it ended; -1/-1 when unknown. */
  endOf(epoch: number, endOffset: number): { epoch: number; endOffset: number } {
    const unknown = { epoch: -1, endOffset: -1 }
    const { latest } = this
    if (epoch < 0 || latest === undefined || epoch > latest.epoch) return unknown
    if (epoch === latest.epoch) return { epoch, endOffset }
    const next = this.#starts.findIndex((start) => start.epoch > epoch)
    // Older than all that is known: the first epoch's start.
    if (next === 0) return { epoch, endOffset: (this.#starts[0] as EpochStart).startOffset }
    return {
      epoch: (this.#starts[next - 1] as EpochStart).epoch,
      endOffset: (this.#starts[next] as EpochStart).startOffset,
    }
  }

  epochOf(offset: number): number {
    for (let i = this.#starts.length - 1; i >= 0; i--) {
      const start = this.#starts[i] as EpochStart
      if (start.startOffset <= offset) return start.epoch
    }
    return -1
  }

  /** Forgets epochs that ended at or before the log's new start. */
  advanceStart(offset: number): void {
    let last = -1
    while (last + 1 < this.#starts.length && (this.#starts[last + 1] as EpochStart).startOffset <= offset) last++
    if (last < 0) return
    const { epoch } = this.#starts[last] as EpochStart
    this.#starts.splice(0, last + 1, { epoch, startOffset: offset })
  }
}
