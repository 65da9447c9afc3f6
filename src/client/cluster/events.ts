// What a cluster tells its owner's users about: the owners' on() passes these through.
import type { KafkaError } from '../../errors.js'

export interface BrokerEvent {
  /** undefined for a bootstrap server that has not told its id yet. */
  readonly nodeId: number | undefined
  /** host:port. */
  readonly address: string
}

export interface ClusterEvents {
  /** A connection is usable. */
  connected: BrokerEvent
  /** A connection broke while requests waited for answers. One that was idle is reopened on need, without an event. */
  disconnected: BrokerEvent & { readonly error: KafkaError }
  /** A round over all brokers has found none that answers; the next one follows after a backoff. */
  unreachable: { readonly brokers: readonly string[]; readonly error: KafkaError; readonly round: number }
  /** A broker asked for a pause (quotas); requests to it wait so long. */
  throttled: BrokerEvent & { readonly throttleTimeMs: number; readonly api: string }
  /** No known broker can be reached, or a broker asked for it: the bootstrap servers are used again (KIP-899, KIP-1102). */
  rebootstrap: { readonly reason: string }
  /** Something failed and is tried again. */
  retry: { readonly what: string; readonly attempt: number; readonly waitMs: number; readonly error: KafkaError }
}
