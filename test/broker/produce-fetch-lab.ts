// Short hands of the broker's tests for producing and fetching by hand.
import { Fetch } from '../../src/protocol/messages/fetch.js'
import { Metadata } from '../../src/protocol/messages/metadata.js'
import { Produce } from '../../src/protocol/messages/produce.js'
import { BatchBuilder, recordsOf, splitBatches, type SealOptions } from '../../src/protocol/records/index.js'
import type { RequestInput, ResponseOf } from '../../src/protocol/wire/index.js'
import type { WireClient } from './wire-client.js'

export interface SimpleRecord {
  readonly key?: string | null
  readonly value?: string | null
  readonly timestamp?: number
}

export function batchOf(records: readonly (SimpleRecord | string)[], options: SealOptions = {}): Buffer {
  const builder = new BatchBuilder(Number.POSITIVE_INFINITY)
  for (const record of records) {
    const { key = null, value = null, timestamp = Date.now() } = typeof record === 'string' ? { value: record } : record
    builder.append(timestamp, key, value, [])
  }
  return Buffer.from(builder.seal(options))
}

export type PartitionAnswer = ResponseOf<typeof Produce>['responses'][number]['partitionResponses'][number]

/** Version 12, by name. */
export async function produce(
  client: WireClient,
  topic: string,
  index: number,
  records: Buffer | null,
  { acks = -1, version = 12 } = {},
): Promise<PartitionAnswer> {
  const answer = await client.send(
    Produce,
    { acks, timeoutMs: 1000, topicData: [{ name: topic, partitionData: [{ index, records }] }] },
    version,
  )
  return answer.responses[0]!.partitionResponses[0]!
}

export type FetchPartition = RequestInput<typeof Fetch>['topics'][number]['partitions'][number]

export function fetchOf(
  topic: string,
  partitions: readonly (Partial<FetchPartition> & { partition: number })[],
  more: Partial<RequestInput<typeof Fetch>> = {},
): RequestInput<typeof Fetch> {
  return {
    maxWaitMs: 0,
    minBytes: 1,
    topics: [
      {
        topic,
        partitions: partitions.map((p) => ({ fetchOffset: 0, partitionMaxBytes: 1 << 20, ...p })),
      },
    ],
    forgottenTopicsData: [],
    ...more,
  }
}

/** Version 12, by name. */
export function fetch(client: WireClient, request: RequestInput<typeof Fetch>): Promise<ResponseOf<typeof Fetch>> {
  return client.send(Fetch, request, 12)
}

export function valuesIn(answer: ResponseOf<typeof Fetch>, partition = 0): string[] {
  const found = answer.responses.flatMap(({ partitions }) => partitions).find((p) => p.partitionIndex === partition)
  const where = { topic: 'any', partition }
  return splitBatches(found?.records ?? Buffer.alloc(0), where)
    .flatMap((batch) => recordsOf(batch))
    .map((record) => record.value?.toString() ?? 'null')
}

export async function topicIdOf(client: WireClient, name: string): Promise<string> {
  const { topics } = await client.send(Metadata, { topics: [{ name }] })
  return topics[0]!.topicId
}
