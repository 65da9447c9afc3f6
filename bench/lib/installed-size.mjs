// Packages in a folder's node_modules, and the disk space they take, counted in blocks as `du` does.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const blockBytes = 512

export function installedSize(dir) {
  let bytes = 0
  let packages = 0
  const walk = (folder, holdsPackages) => {
    bytes += statSync(folder).blocks * blockBytes
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isFile()) bytes += statSync(path).blocks * blockBytes
      if (!entry.isDirectory()) continue
      const isScope = holdsPackages && entry.name.startsWith('@')
      if (holdsPackages && !isScope && !entry.name.startsWith('.')) packages++
      walk(path, entry.name === 'node_modules' || isScope)
    }
  }
  walk(join(dir, 'node_modules'), true)
  return { packages, installedMb: bytes / 1e6 }
}
