// DeleteRecords: move a partition's log start forward; offset -1 is the high watermark.
import { api, array, int16, int32, int64, string } from '../wire/index.js'

export const DeleteRecords = api({
  name: 'DeleteRecords',
  key: 21,
  versions: '0-2',
  flexible: '2+',
  request: {
    topics: array({
      name: string,
      partitions: array({ partitionIndex: int32, offset: int64 }),
    }),
    timeoutMs: int32,
  },
  response: {
    throttleTimeMs: int32,
    topics: array({
      name: string,
      partitions: array({ partitionIndex: int32, lowWatermark: int64, errorCode: int16 }),
    }),
  },
})
