// From a frame to a reply: reads the header, finds the handler, reads the request, lets faults strike and the handler work, writes
// the answer. What Kafka does with unknown keys, versions and broken requests is decided here.
import { ApiVersions } from '../protocol/messages/api-versions.js'
import { errorCodes } from '../protocol/messages/error-table.js'
import type { ApiName } from '../protocol/messages/registry.js'
import { encodeResponse, readRequestHeader, skipRequestTags, type RequestHeader } from '../protocol/wire/frame.js'
import { includes, malformed, Reader, type AnyApi, type RequestOf } from '../protocol/wire/index.js'
import type { Fetch } from '../protocol/messages/fetch.js'
import type { BrokerNode, ClusterState } from './cluster-state.js'
import type { Reply } from './connection.js'
import { corrupted, mark, namesIn, codeFor, take, targetsIn } from './faults/apply.js'
import type { Faults, Strike, Target } from './faults/fault.js'
import type { Struct } from './faults/shapes.js'
import type { ErrorFor } from './fetch/partition-read.js'
import type { ConnectionInfo, Handler, RequestContext } from './handlers/handler.js'
import type { RequestLog } from './request-log.js'

/** A request on its way through the broker. */
interface Request {
  readonly api: AnyApi
  readonly name: ApiName
  readonly header: RequestHeader
  readonly message: Struct
  readonly broker: BrokerNode
  readonly connection: ConnectionInfo
}

export class Dispatcher {
  readonly #cluster: ClusterState
  readonly #faults: Faults
  readonly #log: RequestLog
  readonly #handlers = new Map<number, Handler>()

  constructor(cluster: ClusterState, faults: Faults, log: RequestLog, handlers: readonly Handler[]) {
    this.#cluster = cluster
    this.#faults = faults
    this.#log = log
    for (const handler of handlers) this.#handlers.set(handler.api.key, handler)
  }

  /** Throws when the connection is to be closed without an answer. */
  serve(frame: Buffer, broker: BrokerNode, connection: ConnectionInfo): Reply | Promise<Reply> {
    const reader = new Reader(frame)
    const header = readRequestHeader(reader)
    const { apiKey, apiVersion: version, clientId, correlationId } = header
    const handler = this.#handlers.get(apiKey)
    if (!handler) throw malformed(`a request with the unknown API key ${apiKey}`)
    const { api } = handler
    if (!includes(api.stableVersions, version)) return refuseVersion(api, header)
    skipRequestTags(reader, api, version)
    const message = api.request.read(reader, version) as Struct
    const name = api.name as ApiName
    const at = this.#cluster.clock.date()
    this.#log.add(
      {
        api: name,
        version,
        broker: broker.id,
        clientId,
        correlationId,
        connection: connection.id,
        at,
        request: message,
      },
      frame.length,
    )
    if (this.#cluster.isLogged) {
      const message = `broker ${broker.id}: ${name} v${version} from ${clientId ?? 'a client without id'} (connection ${connection.id})`
      this.#cluster.log('debug', message)
    }
    const request: Request = { api, name, header, message, broker, connection }
    const strike = this.#strike(request)
    if (strike) return this.#struck(handler, request, strike)
    const answer = handler.handle(message as never, this.#context(request, undefined))
    return answer instanceof Promise ? answer.then((late) => replyWith(request, late)) : replyWith(request, answer)
  }

  #context({ broker, connection, header }: Request, errorFor: ErrorFor | undefined): RequestContext {
    const cluster = this.#cluster
    const { apiVersion: version, clientId } = header
    return { broker, cluster, clock: cluster.clock, version, clientId, connection, errorFor }
  }

  // ---- faults

  #strike({ name, message, broker, header }: Request): Strike | undefined {
    return this.#faults.strike({
      api: name,
      broker: broker.id,
      client: header.clientId,
      targets: () => (name === 'Fetch' ? this.#fetchTargets(message, broker) : targetsIn(name, message, this.#cluster)),
    })
  }

  #fetchTargets(message: Struct, broker: BrokerNode): Target[] {
    const nameOf = namesIn(this.#cluster)
    return broker.fetchSessions
      .peek(message as RequestOf<typeof Fetch>)
      .map(({ topic, topicId, partition }) => ({ topic: nameOf(topicId) ?? topic, partition }))
  }

  async #struck(handler: Handler, request: Request, strike: Strike): Promise<Reply> {
    const { connection } = request
    if (strike.disconnect === 'before') return closing('a fault closed it before the request was processed')
    const nameOf = namesIn(this.#cluster)
    let answer = await this.#answered(handler, request, strike)
    if (strike.drop) {
      // Silence until the client or the broker gives up on the connection.
      return new Promise((resolve) => {
        const giveUp = () => resolve(closing('a fault dropped an answer'))
        connection.signal.addEventListener('abort', giveUp, { once: true })
      })
    }
    if (strike.delayMs !== undefined && strike.delayMs > 0) await this.#delay(strike.delayMs, connection.signal)
    if (strike.disconnect === 'after') return closing('a fault closed it instead of an answer')
    if (answer === null) return replyWith(request, null)
    if (strike.corrupt) answer = corrupted(answer, strike.corrupt, nameOf)
    const { throttleMs } = strike
    if (throttleMs === undefined) return replyWith(request, answer)
    return { ...replyWith(request, { ...answer, throttleTimeMs: throttleMs }), muteMs: throttleMs }
  }

  async #answered(handler: Handler, request: Request, { errors }: Strike): Promise<Struct | null> {
    const { name, message, header, connection } = request
    const version = header.apiVersion
    const nameOf = namesIn(this.#cluster)
    const handle = async (rest: Struct, errorFor?: ErrorFor) =>
      (await handler.handle(rest as never, this.#context(request, errorFor))) as Struct | null
    const [first] = errors
    if (!first) return handle(message)
    if (name === 'Fetch') return this.#fetchAnswered(errors, handle, message)
    // Without an answer there is one way to tell the client.
    if (name === 'Produce' && message['acks'] === 0) connection.hangUp('a fault struck a produce request with acks=0')
    if (errors.some(({ spec }) => spec.afterProcessing)) {
      const done = await handle(message)
      return done && mark(name, done, errors, nameOf, message, version)
    }
    const { rest, fill } = take(name, message, version, errors, nameOf)
    return fill(rest ? ((await handle(rest)) ?? undefined) : undefined)
  }

  /** Session errors are of the whole answer, all others stand at their partitions. */
  async #fetchAnswered(
    errors: Strike['errors'],
    handle: (rest: Struct, errorFor?: ErrorFor) => Promise<Struct | null>,
    message: Struct,
  ): Promise<Struct | null> {
    const session = errors.find(({ spec }) => sessionErrors.has(spec.error ?? ''))
    if (session)
      return {
        throttleTimeMs: 0,
        errorCode: codeFor({ topic: session.spec.topic ?? '', partition: undefined }, [session]),
        responses: [],
      }
    return handle(message, (topic, partition) => codeFor({ topic, partition }, errors))
  }

  #delay(ms: number, signal: AbortSignal): Promise<void> {
    return this.#cluster.clock.sleep(ms, signal).catch(() => undefined)
  }
}

const sessionErrors = new Set([
  'FETCH_SESSION_ID_NOT_FOUND',
  'INVALID_FETCH_SESSION_EPOCH',
  'FETCH_SESSION_TOPIC_ID_ERROR',
])

function refuseVersion(api: AnyApi, { apiVersion, correlationId }: RequestHeader): Reply {
  const { min: minVersion, max: maxVersion } = api.stableVersions
  if (api.key !== ApiVersions.key) throw malformed(`${api.name} v${apiVersion}, known are ${minVersion}-${maxVersion}`)
  const frame = encodeResponse(ApiVersions, 0, correlationId, {
    errorCode: errorCodes.UNSUPPORTED_VERSION,
    apiKeys: [{ apiKey: api.key, minVersion, maxVersion }],
  })
  return { frame, muteMs: 0, hangUp: undefined }
}

function replyWith({ api, header }: Request, answer: unknown): Reply {
  if (answer === null) return { frame: null, muteMs: 0, hangUp: undefined }
  const frame = encodeResponse(api, header.apiVersion, header.correlationId, answer as never)
  return { frame, muteMs: 0, hangUp: undefined }
}

function closing(reason: string): Reply {
  return { frame: null, muteMs: 0, hangUp: reason }
}
