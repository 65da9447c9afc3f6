// What the clients are measured against: the C broker, started here, or a cluster that is there already.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Connection, createTopic, deleteTopic, groupsReady } from '../ceiling/connection.mjs'

const unique = () => randomUUID().slice(0, 8)
/** Linux counts CPU time in hundredths of a second. */
const ticksPerSecond = 100

/** Its topics need no creating: names that begin with `sink` drop what they get, a name that ends in `-pN` has N partitions. */
export async function startFastBroker(program) {
  const child = spawn(program, ['0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${program} has ended`)
    return JSON.parse(value)
  }
  const { port } = await nextLine()
  return {
    name: 'the C broker on loopback',
    addresses: [`127.0.0.1:${port}`],
    sink: (partitions) => `sink-${unique()}-p${partitions}`,
    stored: (partitions) => `stored-${unique()}-p${partitions}`,
    create: async () => {},
    remove: async () => {},
    /** Requests and records since it was last asked. */
    counters: () => {
      child.kill('SIGUSR1')
      return nextLine()
    },
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
      return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond // user and system
    },
    stop: () => child.kill(),
  }
}

export async function useCluster(addresses) {
  const connection = await Connection.open(addresses[0])
  // The first group of a cluster waits for its offsets topic to be made: that is not the client's doing.
  await groupsReady(connection)
  const fresh = (kind) => () => `bench-${kind}-${unique()}`
  return {
    name: addresses.join(),
    addresses,
    sink: fresh('sink'),
    stored: fresh('stored'),
    create: (topic, partitions) => createTopic(connection, topic, partitions),
    remove: (topic) => deleteTopic(connection, topic),
    stop: () => connection.close(),
  }
}
