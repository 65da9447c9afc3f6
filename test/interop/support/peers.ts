// The other clients by one interface: each is a small program of ours (test/interop/peers) that knows some of the commands
// `produce`, `group`, `consume`, `chain` and `admin`, and tells what happens in lines of one form.
import { join } from 'node:path'
import { inject } from 'vitest'
import { Program } from './program.js'

export type PeerName = 'java' | 'confluent-kafka' | 'franz-go' | 'kafkajs' | 'platformatic'
export type PeerCommand = 'produce' | 'group' | 'consume' | 'chain' | 'admin'

export interface SentRecord {
  readonly key: string
  readonly value: string
  readonly partition: number
  readonly headers: readonly (readonly [string, string])[]
}

export interface SeenRecord extends SentRecord {
  readonly offset: number
}

export interface PeerOptions {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly group?: string
  readonly assignor?: string
  readonly codec?: string
  readonly records?: readonly SentRecord[]
  readonly partition?: number
  readonly offset?: number
  readonly count?: number
  readonly [more: string]: unknown
}

const javaFlags = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto']
const javaAssignors: Readonly<Record<string, string>> = {
  range: 'RangeAssignor',
  roundrobin: 'RoundRobinAssignor',
  'cooperative-sticky': 'CooperativeStickyAssignor',
}

/** Java with Kafka's jars: the main class and its words. */
export function java(mainClass: string, words: readonly string[], input?: string): Program {
  const { java: command, classPath } = inject('interop')
  return new Program(command, [...javaFlags, '-cp', classPath, mainClass, ...words], { input })
}

function javaPeer(command: PeerCommand, { brokers, records, assignor, ...options }: PeerOptions): Program {
  const lines = records?.map(({ key, value, partition, headers }) =>
    [key, value, partition, headers[0]?.[1] ?? ''].join('\t'),
  )
  const named = { ...options, ...(assignor !== undefined && { assignor: javaAssignors[assignor] }) }
  const words = Object.entries(named).map(([name, value]) => `${name}=${String(value)}`)
  return java('Peer', [command, brokers.join(), ...words], lines?.map((line) => `${line}\n`).join(''))
}

/** Starts a peer; the caller disposes of it. */
export function startPeer(peer: PeerName, command: PeerCommand, options: PeerOptions): Program {
  const { npm, node24, python, pythonPeer, go } = inject('interop')
  if (peer === 'java') return javaPeer(command, options)
  const text = JSON.stringify({ ...options, brokers: options.brokers.join() })
  if (peer === 'confluent-kafka') return new Program(python, [pythonPeer, command, text])
  if (peer === 'franz-go') return new Program(go, [command, text])
  return new Program(node24, [join(npm, `${peer}-peer.mjs`), command, text])
}

/** Runs a peer's command to its good end. */
export async function runPeer(peer: PeerName, command: PeerCommand, options: PeerOptions): Promise<Program> {
  await using program = startPeer(peer, command, options)
  return await program.ended()
}

export function recordsOf(program: Program): SeenRecord[] {
  return program.of('record') as unknown as SeenRecord[]
}

/** What a group member said last of its partitions, as `topic-partition`. */
export function ownedBy(program: Program): string[] {
  const partitions = (program.of('assigned').at(-1)?.['partitions'] ?? []) as readonly (readonly [string, number])[]
  return partitions.map(([topic, partition]) => `${topic}-${partition}`).sort()
}
