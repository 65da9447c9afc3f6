// DescribeCluster: the cluster's id, controller and brokers (KIP-700), or its controllers (KIP-919).
import { api, array, bool, int16, int32, int8, string } from '../wire/index.js'
import { noAuthorizedOperations } from './metadata.js'

export const DescribeCluster = api({
  name: 'DescribeCluster',
  key: 60,
  versions: '0-2',
  flexible: '0+',
  request: {
    includeClusterAuthorizedOperations: bool,
    // 1 brokers, 2 controllers.
    endpointType: int8.in('1+').default(1),
    // KIP-1073
    includeFencedBrokers: bool.in('2+'),
  },
  response: {
    throttleTimeMs: int32,
    errorCode: int16,
    errorMessage: string.nullable().default(null),
    endpointType: int8.in('1+').default(1),
    clusterId: string,
    controllerId: int32.default(-1),
    brokers: array({
      brokerId: int32,
      host: string,
      port: int32,
      rack: string.nullable().default(null),
      isFenced: bool.in('2+'),
    }),
    clusterAuthorizedOperations: int32.default(noAuthorizedOperations),
  },
})
