// The last requests that the brokers of a cluster have received, decoded. Bounded in number and in the bytes it keeps alive.
import type { ApiName } from '../protocol/messages/registry.js'

/** A request as a broker received it, answered or not. */
export interface RequestEntry {
  readonly api: ApiName
  readonly version: number
  /** The broker that was asked. */
  readonly broker: number
  readonly clientId: string | null
  readonly correlationId: number
  /** Counts the connections of this process. */
  readonly connection: number
  /** By the broker's clock, in milliseconds since 1970. */
  readonly at: number
  /** The fields of the message, by their names in Kafka's definitions. */
  readonly request: Readonly<Record<string, unknown>>
}

const mostRequests = 10_000
const mostBytes = 16 << 20

export class RequestLog {
  #entries: { readonly entry: RequestEntry; readonly bytes: number }[] = []
  #first = 0
  #bytes = 0

  add(entry: RequestEntry, bytes: number): void {
    this.#entries.push({ entry, bytes })
    this.#bytes += bytes
    while (this.#entries.length - this.#first > mostRequests || this.#bytes > mostBytes) {
      this.#bytes -= this.#entries[this.#first]!.bytes
      this.#entries[this.#first++] = undefined as never
    }
    if (this.#first > mostRequests) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
  }

  /** A copy, the oldest first. */
  entries(): RequestEntry[] {
    return this.#entries.slice(this.#first).map(({ entry }) => entry)
  }
}
