// Reads esbuild's metafiles of the build: which source files an entry loads at once (dynamic imports not followed).
import { readFileSync } from 'node:fs'

interface Metafile {
  readonly outputs: Record<
    string,
    {
      readonly inputs: Record<string, unknown>
      readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[]
    }
  >
}

/** The source files that come along when `entry` (a file in dist) is loaded. */
export const loadedSources = (metafile: string, entry: string): Set<string> => {
  const { outputs } = JSON.parse(readFileSync(metafile, 'utf8')) as Metafile
  const sources = new Set<string>()
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const output = outputs[file]
    if (output === undefined) throw new Error(`${metafile} has no output ${file}`)
    for (const source of Object.keys(output.inputs)) sources.add(source)
    for (const { path, kind, external } of output.imports) {
      if (external !== true && kind !== 'dynamic-import') visit(path)
    }
  }
  visit(entry)
  return sources
}
