// npm run fixtures:wire: has Apache Kafka's own classes write every declared message in every version, into test/fixtures/wire.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFixtures } from './fixtures-wire/write.js'

const folder = join(import.meta.dirname, '../test/fixtures/wire')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
writeFixtures(folder)
console.log(`${readdirSync(folder).length} files written to test/fixtures/wire`)
