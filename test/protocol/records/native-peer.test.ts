import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { loadPeer } from '../../../src/protocol/records/native-peer.js'

const main = process.argv[1]
const app = mkdtempSync(join(tmpdir(), 'ottla-peer-'))

afterEach(() => {
  process.argv[1] = main as string
  rmSync(app, { recursive: true, force: true })
})

it('an optional package is taken from the application that runs, and is null where it is missing or broken', () => {
  const folder = (name: string) => join(app, 'node_modules', name)
  mkdirSync(join(app, 'src'))
  writeFileSync(join(app, 'src/main.js'), '')
  for (const [name, code] of [
    ['peer-that-works', 'module.exports = { answer: 42 }'],
    ['peer-that-throws', 'throw new Error("built for another platform")'],
  ] as const) {
    mkdirSync(folder(name), { recursive: true })
    writeFileSync(join(folder(name), 'index.js'), code)
  }
  process.argv[1] = join(app, 'src/main.js')
  expect(loadPeer('peer-that-works')).toEqual({ answer: 42 })
  expect(loadPeer('peer-that-throws')).toBeNull()
  expect(loadPeer('peer-that-is-missing')).toBeNull()
  process.argv[1] = join(app, 'src/gone.js')
  expect(loadPeer('peer-that-works')).toBeNull()
})
