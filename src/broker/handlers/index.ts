// The table of handlers: one per API the broker serves. Services (groups/) bring their own.
import { apiVersionsHandler } from './api-versions.js'
import { createTopicsHandler } from './create-topics.js'
import { fetchHandler } from './fetch.js'
import type { Handler, Service } from './handler.js'
import { initProducerIdHandler } from './init-producer-id.js'
import { listOffsetsHandler } from './list-offsets.js'
import { metadataHandler } from './metadata.js'
import { produceHandler } from './produce.js'

const coreHandlers: readonly Handler[] = [
  produceHandler,
  fetchHandler,
  listOffsetsHandler,
  metadataHandler,
  createTopicsHandler,
  initProducerIdHandler,
]

export function allHandlers(services: readonly Service[]): readonly Handler[] {
  const handlers = [...coreHandlers, ...services.flatMap((service) => service.handlers)]
  return [...handlers, apiVersionsHandler(handlers)]
}
