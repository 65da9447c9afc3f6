// Global setup of the conformance runs on Apache Kafka: one cluster of OTTLA_KAFKA nodes for the whole run.
// Tests get it by `inject('apacheKafka')` and attachApacheKafka.
import type { TestProject } from 'vitest/node'
import { startApacheKafka, type ApacheKafkaLocation } from './apache-kafka.js'

declare module 'vitest' {
  export interface ProvidedContext {
    apacheKafka: ApacheKafkaLocation
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const nodes = Number(process.env['OTTLA_KAFKA'] ?? '1')
  if (!Number.isInteger(nodes) || nodes < 1)
    throw new Error(`OTTLA_KAFKA must be a number of nodes, got ${process.env['OTTLA_KAFKA']}`)
  const kafka = await startApacheKafka(nodes)
  project.provide('apacheKafka', { dir: kafka.dir, port: kafka.port, nodes })
  return () => kafka.close()
}
