// One attempt at a metadata answer, from whichever broker can be reached.
import { ConnectionError, KafkaError } from '../../errors.js'
import { errorByCode, toKafkaError } from '../../protocol/messages/error-table.js'
import { Metadata } from '../../protocol/messages/metadata.js'
import type { ResponseOf } from '../../protocol/wire/index.js'
import type { Nodes } from './nodes.js'

const FIRST_VERSION_WITH_CREATION = 4

/** Throws for what is wrong with the whole answer; what is wrong with a topic stands inside. */
export async function fetchMetadata(
  nodes: Nodes,
  topics: readonly string[],
  { allowAutoTopicCreation }: { readonly allowAutoTopicCreation: boolean },
): Promise<ResponseOf<typeof Metadata>> {
  const { connection } = await nodes.any()
  const response = await connection.send(Metadata, (version) => ({
    topics: topics.map((name) => ({ name })),
    ...(version >= FIRST_VERSION_WITH_CREATION ? { allowAutoTopicCreation } : {}),
  }))
  const { errorCode, brokers } = response
  const broker = connection.where
  if (errorCode !== 0) {
    const error = toKafkaError(errorCode, { what: 'Metadata', broker })
    if (errorByCode(errorCode).reaction !== 'rebootstrap') throw error
    nodes.rebootstrap(`${broker} asks for it`)
    throw new KafkaError(error.message, { code: error.code, retriable: true, cause: error })
  }
  // A broker that has just started may not know the others yet, nor itself.
  if (brokers.length === 0) throw new ConnectionError(`${broker} does not know the brokers of its cluster yet`)
  return response
}
