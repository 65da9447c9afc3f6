// When and what a member commits: what is done, in intervals, on request, before partitions are given up. One commit after the other, so
// that a slow one never overtakes a later one.
import { KafkaError, UsageError } from '../../errors.js'
import { partitionKey, type TopicPartition } from '../../protocol/topic-partition.js'
import type { Clock, Timer } from '../../util/clock.js'
import { Deadline } from '../../util/deadline.js'
import type { CommitOutcome, CommittedOffset, CommittedOffsets } from './committed-offsets.js'
import type { Standing } from './group-requests.js'
import type { Progress } from './progress.js'

/** Some partitions could not be committed. The others were: `results` has every partition's outcome. */
export class CommitError extends KafkaError {
  override readonly name = 'CommitError'
  readonly results: readonly CommitOutcome[]

  constructor(results: readonly CommitOutcome[]) {
    const failed = results.filter(({ error }) => error !== undefined)
    const cause = failed[0]?.error
    const where = failed.map(partitionKey).join(', ')
    super(
      `${failed.length} of ${results.length} offsets were not committed (${where}): ${cause?.message ?? 'no reason given'}`,
      {
        code: cause?.code ?? 'UNKNOWN_SERVER_ERROR',
        retriable: cause?.retriable,
        cause,
      },
    )
    this.results = results
  }
}

/** What commits need to know of the membership. */
export interface CommitsHost {
  readonly standing: Standing | undefined
  /** What may be committed now. */
  readonly committable: readonly TopicPartition[]
  owns(partition: TopicPartition): boolean
  refused(error: KafkaError, standing: Standing): void
  /** Resolves when the membership is in another state than now. */
  moved(deadline: Deadline): Promise<void>
  committed(offsets: readonly CommittedOffset[]): void
  commitFailed(error: KafkaError): void
}

export class Commits {
  readonly #clock: Clock
  readonly #offsets: CommittedOffsets
  readonly #progress: Progress
  readonly #host: CommitsHost
  readonly #timeoutMs: number
  /** By partition, what the coordinator has: a commit that would change nothing is not sent. */
  readonly #committed = new Map<string, number>()
  /** By partition, the furthest commit since it was assigned or sought: an older record's commit has nothing to add to that. */
  readonly #furthest = new Map<string, number>()
  #last: Promise<unknown> = Promise.resolve()
  #timer: Timer | undefined

  constructor(clock: Clock, offsets: CommittedOffsets, progress: Progress, host: CommitsHost, timeoutMs: number) {
    this.#clock = clock
    this.#offsets = offsets
    this.#progress = progress
    this.#host = host
    this.#timeoutMs = timeoutMs
  }

  /** Begins to commit what is done every so many milliseconds. A failure is told to the host and tried again the next time. */
  startInterval(intervalMs: number): void {
    this.#timer = this.#clock.setTimer(intervalMs, () => {
      this.commitDone(this.#host.committable, new Deadline(this.#clock, this.#timeoutMs))
        .catch((error: unknown) => this.#host.commitFailed(error as KafkaError))
        .finally(() => {
          if (this.#timer) this.startInterval(intervalMs)
        })
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** The partition was assigned with this committed offset, or none. */
  assigned(partition: TopicPartition, committed: number | undefined): void {
    if (committed === undefined) this.#committed.delete(partitionKey(partition))
    else this.#committed.set(partitionKey(partition), committed)
    this.moved(partition)
  }

  /** The position of the partition was moved: commits may go back from here. */
  moved(partition: TopicPartition): void {
    this.#furthest.delete(partitionKey(partition))
  }

  /** Commits what is done of these partitions, where that or the metadata is news. */
  async commitDone(partitions: readonly TopicPartition[], deadline: Deadline, metadata?: string): Promise<void> {
    await this.#commit(() => this.#doneOf(partitions, metadata), deadline, false)
  }

  /** The same for partitions that are being given up: no rebalance is waited for. Never rejects; the host is told of a failure. */
  async commitLast(partitions: readonly TopicPartition[], deadline: Deadline): Promise<void> {
    try {
      await this.#commit(() => this.#doneOf(partitions), deadline, true)
    } catch (error) {
      this.#host.commitFailed(error as KafkaError)
    }
  }

  /** Commits this offset, whatever is done, unless the partition's commits are further already. `offset` is asked at each attempt. */
  async commitOffset(offset: () => CommittedOffset, deadline: Deadline): Promise<void> {
    const isNews = (one: CommittedOffset) => one.offset >= (this.#furthest.get(partitionKey(one)) ?? 0)
    await this.#commit(() => [offset()].filter(isNews), deadline, false)
  }

  #doneOf(partitions: readonly TopicPartition[], metadata?: string): CommittedOffset[] {
    const offsets: CommittedOffset[] = []
    for (const { topic, partition } of partitions) {
      const done = this.#progress.doneOf({ topic, partition })
      if (!done) continue
      const isNews = this.#committed.get(partitionKey({ topic, partition })) !== done.offset || metadata !== undefined
      if (isNews) offsets.push({ topic, partition, ...done, metadata: metadata ?? '' })
    }
    return offsets
  }

  async #commit(offsets: () => readonly CommittedOffset[], deadline: Deadline, isLast: boolean): Promise<void> {
    const outcomes: CommitOutcome[] = []
    let cause: KafkaError | undefined
    for (let open = offsets; ;) {
      deadline.check('a commit', cause)
      const attempt = await this.#inTurn(() => this.#attempt(open(), deadline, cause))
      outcomes.push(...attempt.settled)
      const [first] = attempt.refused
      if (!first) break
      if (isLast || !attempt.refused.some((one) => this.#host.owns(one))) {
        outcomes.push(...attempt.refused)
        break
      }
      cause = first.error
      await this.#membershipSettles(cause, attempt.standing, deadline)
      // What the member still owns is committed again under its new generation; what it does not is another's to commit.
      outcomes.push(...attempt.refused.filter((one) => !this.#host.owns(one)))
      const still = attempt.refused.filter((one) => this.#host.owns(one))
      if (still.length === 0) break
      const keys = new Set(still.map(partitionKey))
      // Asked anew: what was done or committed meanwhile counts.
      open = () => offsets().filter((one) => keys.has(partitionKey(one)))
    }
    if (outcomes.some(({ error }) => error !== undefined)) throw new CommitError(outcomes)
  }

  /** While one waits for the membership the others have their turn: giving partitions up must be able to commit. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }

  async #attempt(
    asked: readonly CommittedOffset[],
    deadline: Deadline,
    cause: KafkaError | undefined,
  ): Promise<Attempt> {
    const { standing } = this.#host
    if (asked.length === 0) return { standing: NOBODY, settled: [], refused: [] }
    if (!standing) {
      if (cause) throw cause
      throw new UsageError('nothing can be committed: the member is not in the group now', 'NOT_ASSIGNED')
    }
    const outcomes = await this.#offsets.commit(asked, standing, deadline)
    const refused = outcomes.filter(isRefusal)
    const stored = new Set(outcomes.filter(({ error }) => error === undefined).map(partitionKey))
    const committed = asked.filter((one) => stored.has(partitionKey(one)))
    for (const one of committed) {
      const key = partitionKey(one)
      this.#committed.set(key, one.offset)
      this.#furthest.set(key, Math.max(one.offset, this.#furthest.get(key) ?? 0))
    }
    if (committed.length > 0) this.#host.committed(committed)
    return { standing, settled: outcomes.filter((one) => !isRefusal(one)), refused }
  }

  /** The coordinator refused the member, not the offsets: wait for its next state, unless it has moved on since. */
  async #membershipSettles(error: KafkaError, standing: Standing, deadline: Deadline): Promise<void> {
    const now = this.#host.standing
    if (now?.generation !== standing.generation || now.memberId !== standing.memberId) return
    const moved = this.#host.moved(deadline)
    this.#host.refused(error, standing)
    await moved
  }
}

interface Attempt {
  readonly standing: Standing
  readonly settled: readonly CommitOutcome[]
  readonly refused: readonly Refusal[]
}

/** Not committed because of the member, not of the offset. */
interface Refusal extends CommitOutcome {
  readonly error: KafkaError
}

const NOBODY: Standing = { memberId: '', generation: -1 }

function isRefusal(outcome: CommitOutcome): outcome is Refusal {
  const code = outcome.error?.code
  return code === 'REBALANCE_IN_PROGRESS' || code === 'ILLEGAL_GENERATION' || code === 'UNKNOWN_MEMBER_ID'
}
