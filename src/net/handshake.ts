// The first exchange on a connection: which versions the broker has (KIP-35, KIP-511), and whether it is the one we mean (KIP-1242).
import { ApiVersions } from '../protocol/messages/api-versions.js'
import { errorCodes, toKafkaError } from '../protocol/messages/error-table.js'
import type { Reader } from '../protocol/wire/index.js'
import { ApiRanges } from './api-ranges.js'
import type { PendingRequest } from './pending-request.js'
import type { RequestSender } from './send-options.js'
import { softwareName, softwareVersion } from './software.js'

export async function negotiate(
  connection: RequestSender,
  expected: { readonly clusterId: string | null; readonly nodeId: number } | undefined,
): Promise<ApiRanges> {
  let version = ApiVersions.stableVersions.max
  for (let attempt = 1; ; attempt++) {
    const request = {
      clientSoftwareName: softwareName,
      clientSoftwareVersion: softwareVersion,
      clusterId: expected?.clusterId ?? null,
      nodeId: expected?.clusterId == null ? -1 : expected.nodeId,
    }
    const response = await connection.send(ApiVersions, request, { version })
    if (response.errorCode === errorCodes.NONE) return new ApiRanges(connection.where, response)
    if (response.errorCode !== errorCodes.UNSUPPORTED_VERSION || attempt > 1) {
      throw toKafkaError(response.errorCode, { what: 'The handshake', broker: connection.where })
    }
    // Brokers before 2.4 list nothing here; all of them know version 0.
    const listed = response.apiKeys.find(({ apiKey }) => apiKey === ApiVersions.key)
    version = listed ? Math.min(listed.maxVersion, version - 1) : 0
  }
}

/** A broker that does not know our version of ApiVersions answers in version 0; its first field tells. */
export function versionToRead({ api, version }: Pick<PendingRequest, 'api' | 'version'>, reader: Reader): number {
  if (api.key !== ApiVersions.key || reader.remaining < 2) return version
  return reader.buffer.readInt16BE(reader.position) === errorCodes.UNSUPPORTED_VERSION ? 0 : version
}
