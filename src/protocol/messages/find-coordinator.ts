// FindCoordinator: which broker coordinates a group, transactional id or share group.
// One key up to version 3, a list from 4 (KIP-699).
import { api, array, int16, int32, int8, string } from '../wire/index.js'

export const FindCoordinator = api({
  name: 'FindCoordinator',
  key: 10,
  versions: '0-6',
  flexible: '3+',
  request: {
    key: string.in('0-3'),
    // 0 group, 1 transaction, 2 share group (6+, KIP-932).
    keyType: int8.in('1+').default(0),
    coordinatorKeys: array(string).in('4+'),
  },
  response: {
    throttleTimeMs: int32.in('1+').ignorable(),
    errorCode: int16.in('0-3'),
    errorMessage: string.in('1-3').nullable('1-3').ignorable(),
    nodeId: int32.in('0-3'),
    host: string.in('0-3'),
    port: int32.in('0-3'),
    coordinators: array({
      key: string,
      nodeId: int32,
      host: string,
      port: int32,
      errorCode: int16,
      errorMessage: string.nullable().ignorable(),
    }).in('4+'),
  },
})
