// What the request log of a broker says of how another client spoke to it.
import type { BrokerCluster } from '../../../src/broker.js'

/** The versions in which a client asked for an API. */
export function versionsOf(kafka: BrokerCluster, clientId: string, api: string): number[] {
  const entries = kafka.requests.filter((entry) => entry.clientId?.startsWith(clientId) && entry.api === api)
  return [...new Set(entries.map(({ version }) => version))].sort((a, b) => a - b)
}

/** What a client sent of an API, decoded. */
export function requestsOf(kafka: BrokerCluster, clientId: string, api: string): Readonly<Record<string, unknown>>[] {
  return kafka.requests
    .filter((entry) => entry.clientId?.startsWith(clientId) && entry.api === api)
    .map(({ request }) => request)
}
