// AlterConfigs: replaces a resource's whole config; what is left out goes back to its default. See IncrementalAlterConfigs.
import { api, array, bool, int16, int32, int8, string } from '../wire/index.js'

export const AlterConfigs = api({
  name: 'AlterConfigs',
  key: 33,
  versions: '0-2',
  flexible: '2+',
  request: {
    resources: array({
      resourceType: int8,
      resourceName: string,
      configs: array({ name: string, value: string.nullable() }),
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
