// IncrementalAlterConfigs: changes single configs and leaves the others alone (KIP-339).
import { api, array, bool, int16, int32, int8, string } from '../wire/index.js'

export const IncrementalAlterConfigs = api({
  name: 'IncrementalAlterConfigs',
  key: 44,
  versions: '0-1',
  flexible: '1+',
  request: {
    resources: array({
      resourceType: int8,
      resourceName: string,
      configs: array({
        name: string,
        // 0 set, 1 delete, 2 append to a list, 3 subtract from a list.
        configOperation: int8,
        value: string.nullable(),
      }),
    }),
    validateOnly: bool,
  },
  response: {
    throttleTimeMs: int32,
    responses: array({
      errorCode: int16,
      errorMessage: string.nullable(),
      resourceType: int8,
      resourceName: string,
    }),
  },
})
