// From a frame to a reply: reads the header, finds the handler, reads the request, lets it be handled, writes the answer.
// What Kafka does with unknown keys, versions and broken requests is decided here.
import { errorCodes } from '../protocol/messages/error-table.js'
import { ApiVersions } from '../protocol/messages/api-versions.js'
import { Produce } from '../protocol/messages/produce.js'
import { encodeResponse, readRequestHeader, skipRequestTags, type RequestHeader } from '../protocol/wire/frame.js'
import { includes, malformed, Reader, type AnyApi } from '../protocol/wire/index.js'
import type { BrokerNode, ClusterState } from './cluster-state.js'
import type { Reply } from './connection.js'
import type { ConnectionInfo, Handler, RequestContext } from './handlers/handler.js'

export class Dispatcher {
  readonly #cluster: ClusterState
  readonly #handlers = new Map<number, Handler>()

  constructor(cluster: ClusterState, handlers: readonly Handler[]) {
    this.#cluster = cluster
    for (const handler of handlers) this.#handlers.set(handler.api.key, handler)
  }

  /** Throws when the connection is to be closed without an answer. */
  serve(frame: Buffer, broker: BrokerNode, connection: ConnectionInfo): Reply | Promise<Reply> {
    const reader = new Reader(frame)
    const header = readRequestHeader(reader)
    const { apiKey, apiVersion: version } = header
    const handler = this.#handlers.get(apiKey)
    if (!handler) throw malformed(`a request with the unknown API key ${apiKey}`)
    const { api } = handler
    if (!includes(api.stableVersions, version)) return refuseVersion(api, header)
    skipRequestTags(reader, api, version)
    const request = api.request.read(reader, version) as never
    const context: RequestContext = {
      broker,
      cluster: this.#cluster,
      clock: this.#cluster.clock,
      version,
      clientId: header.clientId,
      connection,
      errorFor: undefined,
    }
    const answer = handler.handle(request, context)
    return answer instanceof Promise
      ? answer.then((late) => replyWith(api, header, late))
      : replyWith(api, header, answer)
  }
}

function refuseVersion(api: AnyApi, { apiVersion, correlationId }: RequestHeader): Reply {
  if (api.key !== ApiVersions.key) {
    const { min, max } = api.stableVersions
    const advertised = api.key === Produce.key ? '3' : String(min)
    throw malformed(`${api.name} v${apiVersion}, known are ${advertised}-${max}`)
  }
  const { min: minVersion, max: maxVersion } = api.stableVersions
  const frame = encodeResponse(ApiVersions, 0, correlationId, {
    errorCode: errorCodes.UNSUPPORTED_VERSION,
    apiKeys: [{ apiKey: api.key, minVersion, maxVersion }],
  })
  return { frame, muteMs: 0, hangUp: undefined }
}

function replyWith(api: AnyApi, { apiVersion, correlationId }: RequestHeader, answer: unknown): Reply {
  if (answer === null) return { frame: null, muteMs: 0, hangUp: undefined }
  const frame = encodeResponse(api, apiVersion, correlationId, answer as never)
  return { frame, muteMs: 0, hangUp: undefined }
}
