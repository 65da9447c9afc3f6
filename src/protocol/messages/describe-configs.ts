// DescribeConfigs: configs of topics, brokers and groups with their source, synonyms (KIP-226) and documentation (KIP-569).
import { api, array, bool, int16, int32, int8, string } from '../wire/index.js'

export const DescribeConfigs = api({
  name: 'DescribeConfigs',
  key: 32,
  versions: '1-4',
  flexible: '4+',
  request: {
    resources: array({
      // 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
      resourceType: int8,
      resourceName: string,
      // Null asks for all.
      configurationKeys: array(string).nullable(),
    }),
    includeSynonyms: bool.default(false),
    includeDocumentation: bool.in('3+').default(false),
  },
  response: {
    throttleTimeMs: int32,
    results: array({
      errorCode: int16,
      errorMessage: string.nullable(),
      resourceType: int8,
      resourceName: string,
      configs: array({
        name: string,
        value: string.nullable(),
        readOnly: bool,
        configSource: int8.default(-1).ignorable(),
        isSensitive: bool,
        synonyms: array({ name: string, value: string.nullable(), source: int8 }).ignorable(),
        configType: int8.in('3+').default(0).ignorable(),
        documentation: string.in('3+').nullable('3+').ignorable(),
      }),
    }),
  },
})
