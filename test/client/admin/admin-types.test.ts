import { describe, expectTypeOf, test } from 'vitest'
import type { KafkaError } from '../../../src/errors.js'
import type {
  Admin,
  CreateTopicResult,
  DeleteRecordsResult,
  DescribeGroupResult,
  PartitionOffset,
} from '../../../src/client/admin/index.js'
import type { Topic } from '../../../src/client/serde/index.js'

describe('types of results', () => {
  test('where there is no error there is a value, and the other way round', () => {
    const seen = (result: CreateTopicResult, group: DescribeGroupResult) => {
      expectTypeOf(result.topic).toEqualTypeOf<string>()
      expectTypeOf(result.topicId).toEqualTypeOf<string | null | undefined>()
      if (result.error) {
        expectTypeOf(result.error).toEqualTypeOf<KafkaError>()
        expectTypeOf(result.topicId).toEqualTypeOf<undefined>()
      } else {
        expectTypeOf(result.topicId).toEqualTypeOf<string | null>()
      }
      if (group.error === undefined) expectTypeOf(group.members[0]!.topics).toEqualTypeOf<readonly string[] | null>()
    }
    expectTypeOf(seen).returns.toBeVoid()
  })

  test('one in gives one out, a list gives results, and typed topics are topics', () => {
    const _calls = (admin: Admin, orders: Topic<string, number>) => ({
      one: admin.deleteRecords({ topic: orders, partition: 0, before: 'end' }),
      many: admin.deleteRecords([{ topic: orders, partition: 0, before: 5 }]),
      created: admin.createTopic(orders),
      ends: admin.listOffsets(orders, 'end'),
      added: admin.addPartitions({ topic: orders, total: 3 }),
    })
    type Calls = ReturnType<typeof _calls>
    expectTypeOf<Awaited<Calls['one']>>().toHaveProperty('lowWatermark').toEqualTypeOf<number>()
    expectTypeOf<Awaited<Calls['many']>>().toEqualTypeOf<DeleteRecordsResult[]>()
    expectTypeOf<Awaited<Calls['created']>>().not.toHaveProperty('error')
    expectTypeOf<Awaited<Calls['ends']>>().toEqualTypeOf<PartitionOffset[]>()
    expectTypeOf<Awaited<Calls['added']>>().toEqualTypeOf<void>()
  })
})
