// ApiVersions: which versions of which API a broker serves; the first request on every connection.
// The response header has no tagged fields at any version, and a request in a version the broker does not know is answered
// in version 0 with UNSUPPORTED_VERSION and the list (KIP-511), so that any client can read it.
import { api, array, bool, int16, int32, int64, string } from '../wire/index.js'

export const ApiVersions = api({
  name: 'ApiVersions',
  key: 18,
  versions: '0-5',
  flexible: '3+',
  request: {
    clientSoftwareName: string.in('3+').ignorable(),
    clientSoftwareVersion: string.in('3+').ignorable(),
    // KIP-1242: a broker that is not the one expected answers REBOOTSTRAP_REQUIRED.
    clusterId: string.in('5+').nullable('5+').default(null).ignorable(),
    nodeId: int32.in('5+').default(-1).ignorable(),
  },
  response: {
    errorCode: int16,
    apiKeys: array({ apiKey: int16, minVersion: int16, maxVersion: int16 }),
    throttleTimeMs: int32.in('1+').ignorable(),
    supportedFeatures: array({ name: string, minVersion: int16, maxVersion: int16 }).in('3+').tagged(0).ignorable(),
    finalizedFeaturesEpoch: int64.in('3+').default(-1).tagged(1).ignorable(),
    finalizedFeatures: array({ name: string, maxVersionLevel: int16, minVersionLevel: int16 })
      .in('3+')
      .tagged(2)
      .ignorable(),
    zkMigrationReady: bool.in('3+').tagged(3).ignorable(),
  },
})
