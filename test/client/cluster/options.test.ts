import { describe, expect, it, vi } from 'vitest'
import { clientOptions, consoleLogger, type ClientOptions } from '../../../src/client/cluster/index.js'
import { resolveOptions } from '../../../src/util/options.js'

function resolve(options: unknown) {
  return resolveOptions('Producer', options, clientOptions)
}

describe('the options of every client', () => {
  it('have defaults, and brokers that are read', () => {
    const options: ClientOptions = { brokers: ['localhost:9092', '[::1]:9093'] }
    expect(resolve(options)).toMatchObject({
      brokers: [
        { host: 'localhost', port: 9092 },
        { host: '::1', port: 9093 },
      ],
      clientId: 'ottla',
      requestTimeoutMs: 30_000,
      connectTimeoutMs: 10_000,
      metadataMaxAgeMs: 300_000,
      allowAutoTopicCreation: true,
      maxResponseBytes: 104_857_600,
    })
  })

  it.each([
    [{}, 'Producer: brokers is required'],
    [{ brokers: [] }, 'Producer: brokers must be an array of at least 1, got an array of 0'],
    [{ brokers: 'localhost:9092' }, 'Producer: brokers must be an array of at least 1, got "localhost:9092"'],
    [{ brokers: ['localhost'] }, 'brokers must be an array whose item 0 is host:port'],
    [{ brokers: ['a:1'], clientId: '' }, 'clientId must be a string that is not empty, got ""'],
    [{ brokers: ['a:1'], requestTimeoutMs: '5' }, 'requestTimeoutMs must be an integer of 1-86400000, got "5"'],
    [{ brokers: ['a:1'], logger: 'loud' }, 'logger must be one of debug, info, warn, error, silent'],
    [{ brokers: ['a:1'], logger: { warn: () => {} } }, 'or an object with the functions debug, info, warn and error'],
    [{ brokers: ['a:1'], broker: 1 }, 'unknown option broker; known are allowAutoTopicCreation, brokers'],
  ])('refuses %j with its name, what was got and what is allowed', (options, message) => {
    expect(() => resolve(options)).toThrow(message)
  })

  it.each(['tls', 'sasl'])('refuses %s, which comes later, with NOT_SUPPORTED', (name) => {
    expect(() => resolve({ brokers: ['a:1'], [name]: {} })).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'NOT_SUPPORTED',
        message: expect.stringContaining(name) as string,
      }),
    )
  })

  it('log to stderr from the level on that was asked for', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const logger = consoleLogger('info')
    logger.debug('not this')
    logger.info('this')
    logger.error('and this', { broker: 1 })
    expect(error.mock.calls).toEqual([['ottla info: this'], ['ottla error: and this', { broker: 1 }]])
    consoleLogger('silent').error('nothing')
    expect(error).toHaveBeenCalledTimes(2)
    const own = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    expect(resolve({ brokers: ['a:1'], logger: own }).logger).toBe(own)
  })
})
