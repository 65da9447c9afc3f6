// Makes the recorded bytes anew, and compares them with the committed ones.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withScratchFolder } from '../fixtures-wire/oracle.js'
import { writeFixtures } from '../fixtures-wire/write.js'

const committed = join(import.meta.dirname, '../../test/fixtures/wire')

export function fixtureDifferences(): { readonly count: number; readonly differences: readonly string[] } {
  return withScratchFolder((folder) => {
    writeFixtures(folder)
    const files = [...new Set([...readdirSync(folder), ...readdirSync(committed)])].sort()
    let count = 0
    const differences = files.flatMap((file) => {
      const [now, before] = [linesOf(join(folder, file)), linesOf(join(committed, file))]
      count += now.length
      const changed = Math.max(now.length, before.length) - now.filter((line, i) => line === before[i]).length
      return changed === 0 ? [] : [`test/fixtures/wire/${file}: ${changed} lines differ from what Kafka writes now`]
    })
    return { count, differences }
  })
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
