// The clients there are: the drivers of this folder as far as their clients are installed, the C baseline, and drivers of others.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const drivers = fileURLToPath(new URL('../drivers/', import.meta.url))
const builtIn = [
  'ottla',
  'kafkajs',
  'platformatic',
  'kafka-ts',
  'confluent',
  'confluent-rdkafka',
  'ceiling',
  'ceiling-native-crc',
]
const nativeBaseline = 'librdkafka'

/** By id. `note` is told of what is left out. */
export async function loadClients(peers, modules, note) {
  const clients = new Map()
  for (const id of builtIn) {
    const file = join(drivers, `${id}.mjs`)
    const driver = await import(pathToFileURL(file))
    const { install } = driver
    const isMissing = install !== undefined && !existsSync(join(install.dir, 'node_modules', install.module))
    if (isMissing) note(`left out: ${id} (not installed in ${install.dir})`)
    else clients.set(id, { id, name: driver.name, file, driver })
  }
  const program = join(peers, 'librdkafka-client')
  if (existsSync(program)) clients.set(nativeBaseline, { id: nativeBaseline, name: 'C librdkafka', program })
  else note(`left out: ${nativeBaseline} (no ${program})`)
  for (const module of modules) {
    const file = resolve(module)
    const driver = await import(pathToFileURL(file))
    if (typeof driver.name !== 'string') throw new Error(`${file} exports no name`)
    clients.set(driver.name, { id: driver.name, name: driver.name, file, driver })
  }
  return clients
}

/** The mode in which the client is put through the workload; undefined when it has nothing for it. */
export function modeOf(client, { kind, mode }) {
  if (client.program !== undefined) {
    if (kind === 'produce') return ''
    return kind === 'consume' ? (mode === 'any' ? 'batch' : mode) : undefined
  }
  const { driver } = client
  if (kind === 'import') return driver.install === undefined ? undefined : ''
  if (typeof driver[kind] !== 'function') return undefined
  if (kind !== 'consume') return ''
  const modes = driver.modes ?? ['record']
  if (mode === 'any') return modes[0]
  return modes.includes(mode) ? mode : undefined
}
