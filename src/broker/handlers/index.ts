// The table of handlers: one per API the broker serves. Services (groups/) bring their own.
import { alterConfigsHandler } from './alter-configs.js'
import { apiVersionsHandler } from './api-versions.js'
import { createPartitionsHandler } from './create-partitions.js'
import { createTopicsHandler } from './create-topics.js'
import { deleteRecordsHandler } from './delete-records.js'
import { deleteTopicsHandler } from './delete-topics.js'
import { describeClusterHandler } from './describe-cluster.js'
import { describeConfigsHandler } from './describe-configs.js'
import { describeTopicPartitionsHandler } from './describe-topic-partitions.js'
import { fetchHandler } from './fetch.js'
import type { Handler, Service } from './handler.js'
import { incrementalAlterConfigsHandler } from './incremental-alter-configs.js'
import { initProducerIdHandler } from './init-producer-id.js'
import { listOffsetsHandler } from './list-offsets.js'
import { metadataHandler } from './metadata.js'
import { offsetForLeaderEpochHandler } from './offset-for-leader-epoch.js'
import { produceHandler } from './produce.js'

const coreHandlers: readonly Handler[] = [
  produceHandler,
  fetchHandler,
  listOffsetsHandler,
  metadataHandler,
  createTopicsHandler,
  initProducerIdHandler,
  alterConfigsHandler,
  createPartitionsHandler,
  deleteRecordsHandler,
  deleteTopicsHandler,
  describeClusterHandler,
  describeConfigsHandler,
  describeTopicPartitionsHandler,
  incrementalAlterConfigsHandler,
  offsetForLeaderEpochHandler,
]

export function allHandlers(services: readonly Service[]): readonly Handler[] {
  const handlers = [...coreHandlers, ...services.flatMap((service) => service.handlers)]
  return [...handlers, apiVersionsHandler(handlers)]
}
