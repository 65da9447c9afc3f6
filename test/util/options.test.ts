import { describe, expect, it } from 'vitest'
import {
  arrayOf,
  boolean,
  functionOf,
  integer,
  nonEmptyString,
  oneOf,
  option,
  optional,
  required,
  resolveOptions,
} from '../../src/util/options.js'

const specs = {
  brokers: required(arrayOf(nonEmptyString, { min: 1 })),
  lingerMs: option(integer(0, 100), 5),
  acks: option(oneOf<'all' | 0 | 1>('all', 0, 1), 'all'),
  strict: option(boolean, () => true),
  partitioner: optional(functionOf<() => number>('() => number')),
}

describe('options', () => {
  it('are resolved to a whole config, and the caller keeps an object of its own', () => {
    const given = { brokers: ['a:1'], lingerMs: undefined }
    const config = resolveOptions('Producer', given, specs)
    expect(config).toEqual({ brokers: ['a:1'], lingerMs: 5, acks: 'all', strict: true, partitioner: undefined })
    expect(given).toEqual({ brokers: ['a:1'], lingerMs: undefined })
    expect(config.brokers).not.toBe(given.brokers)
  })

  it.each([
    [undefined, 'Producer: options must be an object, got undefined'],
    [{}, 'Producer: brokers is required'],
    [{ brokers: [] }, 'Producer: brokers must be an array of at least 1, got an array of 0'],
    [
      { brokers: ['a', 7] },
      'Producer: brokers must be an array whose item 1 is a string that is not empty, got an array of 2',
    ],
    [{ brokers: ['a'], lingerMs: 101 }, 'Producer: lingerMs must be an integer of 0-100, got 101'],
    [{ brokers: ['a'], lingerMs: '5' }, 'Producer: lingerMs must be an integer of 0-100, got "5"'],
    [{ brokers: ['a'], lingerMs: NaN }, 'Producer: lingerMs must be an integer of 0-100, got NaN'],
    [{ brokers: ['a'], acks: 2 }, 'Producer: acks must be one of "all", 0, 1, got 2'],
    [{ brokers: ['a'], strict: null }, 'Producer: strict must be true or false, got null'],
    [
      { brokers: ['a'], partitioner: {} },
      'Producer: partitioner must be a function () => number, got an object (Object)',
    ],
    [
      { brokers: ['a'], linger: 5 },
      'Producer: unknown option linger; known are acks, brokers, lingerMs, partitioner, strict',
    ],
    [
      { brokers: ['a'], toString: 1 },
      'Producer: unknown option toString; known are acks, brokers, lingerMs, partitioner, strict',
    ],
  ])('that are wrong are named with what was got and what is allowed: %j', (given, message) => {
    expect(() => resolveOptions('Producer', given, specs)).toThrow(
      expect.objectContaining({ name: 'UsageError', code: 'INVALID_OPTION', message }),
    )
  })
})
