// ApiVersions: what the table of handlers serves, in the versions of Apache Kafka 4.4. Produce is listed from version 0 although
// only 3 and later work (KAFKA-18659). Deviation: no features are listed before there is something they would switch.
import { ApiVersions } from '../../protocol/messages/api-versions.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import { Produce } from '../../protocol/messages/produce.js'
import { handler, type Handler } from './handler.js'

const softwareName = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/

export function apiVersionsHandler(handlers: readonly Handler[]): Handler {
  const apiKeys = [...handlers.map(({ api }) => api), ApiVersions]
    .map(({ key, stableVersions: { min, max } }) => ({
      apiKey: key,
      minVersion: key === Produce.key ? 0 : min,
      maxVersion: max,
    }))
    .sort((a, b) => a.apiKey - b.apiKey)

  return handler(ApiVersions, (request, { version, cluster, broker }) => {
    if (version >= 3) {
      const { clientSoftwareName, clientSoftwareVersion } = request
      if (!softwareName.test(clientSoftwareName) || !softwareName.test(clientSoftwareVersion)) {
        return { errorCode: errorCodes.INVALID_REQUEST, apiKeys: [] }
      }
    }
    // KIP-1242: both or neither.
    if ((request.clusterId === null) !== (request.nodeId === -1)) {
      return { errorCode: errorCodes.INVALID_REQUEST, apiKeys: [] }
    }
    // The client wanted another cluster or broker than the one that answers at this address.
    const isOther =
      (request.clusterId !== null && request.clusterId !== cluster.clusterId) ||
      (request.nodeId !== -1 && request.nodeId !== broker.id)
    if (isOther) return { errorCode: errorCodes.REBOOTSTRAP_REQUIRED, apiKeys: [] }
    return { errorCode: errorCodes.NONE, apiKeys }
  })
}
