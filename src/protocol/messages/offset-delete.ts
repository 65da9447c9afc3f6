// OffsetDelete: remove a group's committed offsets of topics it is not subscribed to (KIP-496). Never became flexible.
import { api, array, int16, int32, string } from '../wire/index.js'

export const OffsetDelete = api({
  name: 'OffsetDelete',
  key: 47,
  versions: '0',
  flexible: 'none',
  request: {
    groupId: string,
    topics: array({
      name: string,
      partitions: array({ partitionIndex: int32 }),
    }),
  },
  response: {
    errorCode: int16,
    throttleTimeMs: int32.ignorable(),
    topics: array({
      name: string,
      partitions: array({ partitionIndex: int32, errorCode: int16 }),
    }),
  },
})
