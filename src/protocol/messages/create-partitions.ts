// CreatePartitions: raise a topic's partition count to `count`; assignments are for the new partitions only (KIP-195).
import { api, array, bool, int16, int32, string } from '../wire/index.js'

export const CreatePartitions = api({
  name: 'CreatePartitions',
  key: 37,
  versions: '0-3',
  flexible: '2+',
  request: {
    topics: array({
      name: string,
      count: int32,
      // Null lets the broker choose.
      assignments: array({ brokerIds: array(int32) }).nullable(),
    }),
    timeoutMs: int32,
    validateOnly: bool,
  },
  response: {
    throttleTimeMs: int32,
    results: array({
      name: string,
      errorCode: int16,
      errorMessage: string.nullable().default(null),
    }),
  },
})
