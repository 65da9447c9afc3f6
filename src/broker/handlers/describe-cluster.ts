// DescribeCluster, versions 0-2: as a broker's of Apache Kafka. Stopped brokers are the fenced ones. Authorized operations are never
// computed: there are no ACLs.
import { DescribeCluster } from '../../protocol/messages/describe-cluster.js'
import { errorCodes } from '../../protocol/messages/error-table.js'
import { addressOf } from '../advertised.js'
import { handler } from './handler.js'

const brokers = 1
const controllers = 2

export const describeClusterHandler = handler(DescribeCluster, (request, { cluster, connection, version }) => {
  const { endpointType, includeFencedBrokers } = request
  const { clusterId } = cluster
  if (endpointType !== brokers) {
    const isKnown = endpointType === controllers
    return {
      throttleTimeMs: 0,
      errorCode: isKnown ? errorCodes.MISMATCHED_ENDPOINT_TYPE : errorCodes.UNSUPPORTED_ENDPOINT_TYPE,
      errorMessage: isKnown
        ? 'The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER'
        : `Unsupported endpoint type ${endpointType}`,
      clusterId: '',
      brokers: [],
    }
  }
  const nodes = [...cluster.nodes.values()].filter((node) => node.isAlive || includeFencedBrokers)
  return {
    throttleTimeMs: 0,
    errorCode: errorCodes.NONE,
    clusterId,
    controllerId: cluster.controllerId,
    brokers: nodes.map((node) => ({
      brokerId: node.id,
      ...addressOf(node, connection),
      rack: node.rack,
      isFenced: version >= 2 ? !node.isAlive : undefined,
    })),
  }
})
