// Loads a peer from the folder that the setup installed it in, when a driver's function first needs it and not before.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const folder = (name) => join(process.env.BENCH_PEERS ?? '', name)

const requireFrom = (name) => createRequire(join(folder(name), 'x.js'))
export const load = (name, module) => requireFrom(name)(module)
export const loadEsm = (name, module) => import(pathToFileURL(requireFrom(name).resolve(module)))
