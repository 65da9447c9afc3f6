import { describe, expect, test } from 'vitest'
import { isStartPosition, parseAgoMs } from '../../../src/client/consumer/positions.js'
import { Consumer, type ConsumerOptions } from '../../../src/client/consumer/index.js'

describe('places in a partition', () => {
  test.each([
    ['250ms', 250],
    ['90s', 90_000],
    ['15m', 900_000],
    ['1.5h', 5_400_000],
    ['7 d', 604_800_000],
    [1234, 1234],
  ])('%s is a stretch of time', (ago, ms) => {
    expect(parseAgoMs(ago)).toBe(ms)
  })

  test.each(['1w', '', 'h', '-1h', '1h30m', -1, NaN, Infinity, null, undefined, {}])('%s is none', (ago) => {
    expect(parseAgoMs(ago)).toBeUndefined()
  })

  test.each([-1, 1.5, 2 ** 53, NaN, 'start', new Date(NaN), {}, { ago: '1w' }, { ago: '1h', more: 1 }, null])(
    '%s is no position',
    (position) => {
      expect(isStartPosition(position)).toBe(false)
    },
  )
})

describe('the options of a Consumer', () => {
  const brokers = ['localhost:1']
  const wrong = (options: unknown) => () => new Consumer(options as ConsumerOptions)

  test.each([
    [{ brokers }, 'either topics or partitions must be given'],
    [{ brokers, topics: ['a'], partitions: [{ topic: 'a', partition: 0 }] }, 'either topics or partitions'],
    [{ brokers, topics: [] }, 'topics must be an array of at least one'],
    [{ brokers, topics: ['a', 'a'] }, 'topics must be an array in which nothing is twice (a is)'],
    [{ brokers, topics: ['a b'] }, "topics must be an array whose item 0 is a topic's name or what topic() gives"],
    [{ brokers, topics: 'orders' }, 'topics must be an array of at least one, got "orders"'],
    [{ brokers, partitions: [{ topic: 'a', partition: -1 }] }, 'partitions must be an array whose item 0 is'],
    [{ brokers, topics: ['a'], from: 'start' }, "from must be 'beginning', 'end', an offset of 0 or more"],
    [{ brokers, topics: ['a'], from: -2 }, 'got -2'],
    [{ brokers, topics: ['a'], to: { ago: '1w' } }, 'to must be'],
    [{ brokers, topics: ['a'], outOfRange: 'none' }, "outOfRange must be 'beginning', 'end', 'nearest', 'error' or"],
    [{ brokers, topics: ['a'], isolation: 'committed' }, 'isolation must be one of'],
    [{ brokers, topics: ['a'], maxWaitMs: '5' }, 'maxWaitMs must be an integer of 0-86400000, got "5"'],
    [{ brokers, topics: ['a'], prefetchBytes: 0 }, 'prefetchBytes must be an integer'],
    [{ brokers, topics: ['a'], group: 'g' }, 'unknown option group'],
    [{ topics: ['a'] }, 'brokers is required'],
  ])('%j is refused with the name of the option', (options, message) => {
    expect(wrong(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(wrong(options)).toThrow(message)
  })

  test('batches() refuses what it does not understand', async () => {
    await using consumer = new Consumer({ brokers, topics: ['a'] })
    expect(() => consumer.batches({ maxRecords: 0 })).toThrow('Consumer.batches: maxRecords must be')
    expect(() => consumer.batches({ size: 1 } as never)).toThrow('unknown option size')
  })

  test('seek and rewind refuse what is no position', async () => {
    await using consumer = new Consumer({ brokers, topics: ['a'] })
    await expect(consumer.rewind('first' as never)).rejects.toThrow('rewind takes')
    expect(() => consumer.seek({ topic: 'a', partition: 0 }, 0)).toThrow(
      expect.objectContaining({ code: 'NOT_ASSIGNED' }),
    )
  })
})
