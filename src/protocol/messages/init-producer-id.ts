// InitProducerId: a producer id and epoch, for idempotence or a transactional id.
// Version 6 (two-phase commit, KIP-939) is declared but not stable in Apache Kafka 4.4, hence never advertised.
import { api, bool, int16, int32, int64, string } from '../wire/index.js'

export const InitProducerId = api({
  name: 'InitProducerId',
  key: 22,
  versions: '0-6',
  flexible: '2+',
  latestVersionUnstable: true,
  request: {
    transactionalId: string.nullable(),
    transactionTimeoutMs: int32,
    // KIP-360: the id and epoch one has, to get a bumped epoch.
    producerId: int64.in('3+').default(-1),
    producerEpoch: int16.in('3+').default(-1),
    enable2Pc: bool.in('6+').default(false),
    keepPreparedTxn: bool.in('6+').default(false),
  },
  response: {
    throttleTimeMs: int32.ignorable(),
    errorCode: int16,
    producerId: int64.default(-1),
    producerEpoch: int16,
    ongoingTxnProducerId: int64.in('6+').default(-1),
    ongoingTxnProducerEpoch: int16.in('6+').default(-1),
  },
})
