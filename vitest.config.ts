// The kinds of test run: unit and integration (npm test), conformance on Apache Kafka, interop with other clients.
import { defineConfig } from 'vitest/config'

const setup = {
  setupFiles: ['test/helpers/setup.ts'],
  sequence: { hooks: 'stack' as const },
  unstubEnvs: true,
  restoreMocks: true,
}
const integration = ['test/integration/**/*.test.ts', 'test/cli/**/*.test.ts', 'test/conformance/**/*.test.ts']
const kafka = process.env['OTTLA_KAFKA'] ?? '1'

export default defineConfig({
  test: {
    passWithNoTests: false,
    allowOnly: process.env['CI'] === undefined,
    projects: [
      {
        test: {
          ...setup,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...integration, 'test/interop/**', 'test/package/**'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...setup,
          name: 'integration',
          include: integration,
          env: { OTTLA_KAFKA: 'embedded' },
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...setup,
          name: 'conformance-kafka',
          include: ['test/conformance/**/*.test.ts'],
          env: { OTTLA_KAFKA: kafka },
          globalSetup: ['test/helpers/apache-kafka-global.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          ...setup,
          name: 'interop',
          include: ['test/interop/**/*.test.ts'],
          globalSetup: ['scripts/interop-setup.ts'],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
