// DeleteTopics, by name up to version 5, by name or id from 6 (KIP-516).
import { api, array, int16, int32, string, uuid } from '../wire/index.js'

export const DeleteTopics = api({
  name: 'DeleteTopics',
  key: 20,
  versions: '1-6',
  flexible: '4+',
  request: {
    topics: array({ name: string.nullable().default(null), topicId: uuid }).in('6+'),
    topicNames: array(string).in('0-5').ignorable(),
    timeoutMs: int32,
  },
  response: {
    throttleTimeMs: int32.ignorable(),
    responses: array({
      name: string.nullable('6+'),
      topicId: uuid.in('6+').ignorable(),
      errorCode: int16,
      errorMessage: string.in('5+').nullable('5+').default(null).ignorable(),
    }),
  },
})
