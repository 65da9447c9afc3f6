// Heartbeats on a timer of their own, whatever the handler does. Says when the coordinator refuses one; decides nothing.
import { isKafkaError, type KafkaError } from '../../errors.js'
import { Deadline } from '../../util/deadline.js'
import type { Clock } from '../../util/clock.js'
import type { GroupRequests, Standing } from './group-requests.js'

export interface HeartbeatSettings {
  readonly heartbeatMs: number
  readonly sessionTimeoutMs: number
}

export class Heartbeats {
  readonly #clock: Clock
  readonly #requests: GroupRequests
  readonly #settings: HeartbeatSettings
  readonly #onRefused: (error: KafkaError, standing: Standing) => void
  #stop: AbortController | undefined

  constructor(
    clock: Clock,
    requests: GroupRequests,
    settings: HeartbeatSettings,
    onRefused: (error: KafkaError, standing: Standing) => void,
  ) {
    this.#clock = clock
    this.#requests = requests
    this.#settings = settings
    this.#onRefused = onRefused
  }

  start(standing: Standing): void {
    this.stop()
    this.#stop = new AbortController()
    this.#beat(standing, this.#stop.signal).catch(() => {}) // ends by its signal only
  }

  stop(): void {
    this.#stop?.abort()
    this.#stop = undefined
  }

  async #beat(standing: Standing, signal: AbortSignal): Promise<void> {
    const { heartbeatMs, sessionTimeoutMs } = this.#settings
    for (;;) {
      await this.#clock.sleep(heartbeatMs, signal)
      try {
        await this.#requests.heartbeat(standing, new Deadline(this.#clock, sessionTimeoutMs, signal))
      } catch (error) {
        if (signal.aborted) return
        // A coordinator that cannot be reached for a whole session is tried on: when it answers it says what became of the member.
        if (isKafkaError(error) && !error.retriable) this.#onRefused(error, standing)
      }
    }
  }
}
