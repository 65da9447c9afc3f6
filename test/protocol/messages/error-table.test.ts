// The error table: complete, consistent, and the errors made from it say what failed, where, and why.
import { describe, expect, expectTypeOf, test } from 'vitest'
import { AuthorizationError, FencedError, KafkaError } from '../../../src/errors.js'
import {
  errorByCode,
  errorByName,
  errorCodes,
  protocolErrors,
  toKafkaError,
  type ErrorName,
  type ProtocolError,
} from '../../../src/protocol/messages/error-table.js'

describe('the error table', () => {
  test('has every number from -1 up once, and every name once', () => {
    expect(protocolErrors.map(({ code }) => code)).toEqual(protocolErrors.map((_, i) => i - 1))
    expect(new Set(protocolErrors.map(({ name }) => name)).size).toBe(protocolErrors.length)
  })

  test('finds an error by number and by name', () => {
    expect(errorByCode(6)).toBe(errorByName('NOT_LEADER_OR_FOLLOWER'))
    expect(errorByName('NOT_LEADER_OR_FOLLOWER')).toMatchObject({
      code: 6,
      retriable: true,
      reaction: 'refreshMetadata',
    })
    expect(errorCodes.REBALANCE_IN_PROGRESS).toBe(27)
    expect(errorByName('__proto__')).toBeUndefined()
  })

  test('takes a number of a newer broker for UNKNOWN_SERVER_ERROR', () => {
    expect(errorByCode(9999).name).toBe('UNKNOWN_SERVER_ERROR')
  })

  test('never gives up what Java retries, and retries what Java gives up only while a KIP-848 member waits for its coordinator', () => {
    const given = protocolErrors.filter(({ reaction, retriable }) => reaction === 'fail' && retriable)
    expect(given).toEqual([])
    const more = protocolErrors.filter(({ reaction, retriable }) => reaction === 'retry' && !retriable)
    expect(more.map(({ name }) => name)).toEqual(['UNRELEASED_INSTANCE_ID', 'STALE_MEMBER_EPOCH'])
  })

  test('T42 an old leader epoch asks for new metadata, one that the broker does not know yet for patience', () => {
    expect(errorByName('FENCED_LEADER_EPOCH').reaction).toBe('refreshMetadata')
    expect(errorByName('UNKNOWN_LEADER_EPOCH').reaction).toBe('retry')
  })

  test('T02 a batch that the broker has already needs nothing more', () => {
    expect(errorByName('DUPLICATE_SEQUENCE_NUMBER').reaction).toBe('none')
  })

  test('has messages that can follow a colon', () => {
    expect(protocolErrors.filter(({ message }) => /^[A-Z]|[.!]$|^$/.test(message))).toEqual([])
  })

  test('types its names', () => {
    expectTypeOf<'NOT_COORDINATOR'>().toExtend<ErrorName>()
    expectTypeOf<'NO_SUCH_ERROR'>().not.toExtend<ErrorName>()
    expectTypeOf(errorByName('NONE')).toEqualTypeOf<ProtocolError>()
    expectTypeOf(errorByName('anything' as string)).toEqualTypeOf<ProtocolError | undefined>()
  })
})

describe('an error made of what a broker answered', () => {
  test('says what failed, for which partition, on which broker, why, and what the broker said', () => {
    const cause = new Error('below')
    const error = toKafkaError(10, {
      what: 'Produce',
      topic: 'orders',
      partition: 3,
      broker: 2,
      brokerMessage: 'batch of 2000 bytes',
      cause,
    })
    expect(error.message).toBe(
      'Produce failed for orders-3 on broker 2: MESSAGE_TOO_LARGE: the batch is larger than the topic allows (max.message.bytes); the broker says: batch of 2000 bytes',
    )
    expect(error).toMatchObject({ code: 'MESSAGE_TOO_LARGE', retriable: false, cause })
  })

  test('leaves out what is not known', () => {
    const error = toKafkaError(16, { what: 'commit of group billing', brokerMessage: null })
    expect(error.message).toBe('commit of group billing failed: NOT_COORDINATOR: this broker is not the coordinator')
    expect(error.retriable).toBe(true)
    expect(toKafkaError(3, { what: 'Metadata', topic: 'orders' }).message).toContain('failed for topic orders: ')
  })

  test('names a number that is not known', () => {
    const error = toKafkaError(9999, { what: 'Fetch' })
    expect(error.code).toBe('UNKNOWN_SERVER_ERROR')
    expect(error.message).toContain('code 9999')
  })

  test('has the class for what the caller can do', () => {
    expect(toKafkaError(29, { what: 'Fetch' })).toBeInstanceOf(AuthorizationError)
    expect(toKafkaError(82, { what: 'JoinGroup' })).toBeInstanceOf(FencedError)
    expect(toKafkaError(1, { what: 'Fetch' }).constructor).toBe(KafkaError)
  })
})
