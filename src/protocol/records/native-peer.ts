// Finds the optional native accelerators (snappy, lz4-napi, @node-rs/crc32) of the application that uses ottla.
// They are resolved from the main script at run time, never by an import, so that bundlers do not ask for them.
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** The package, or null when it is not installed or does not load here. */
export function loadPeer<T>(name: string): T | null {
  try {
    const main = process.argv[1]
    const from = main === undefined ? join(process.cwd(), 'repl') : realpathSync(main)
    return createRequire(from)(name) as T
  } catch {
    return null
  }
}
