// Opens a TCP socket to a name: looked up anew each time, all its addresses tried, a little apart (T96, T97).
import { lookup, type LookupAddress } from 'node:dns'
import { connect, isIP, type Socket } from 'node:net'
import { ConnectionError } from '../errors.js'
import type { Clock } from '../util/clock.js'
import { bareHost, formatAddress, type Address } from './address.js'
import { staggered } from './staggered.js'
import { untilAborted } from './until-aborted.js'

/** As RFC 8305 advises. Node's own autoSelectFamily would abandon an address after this time, however near success it is. */
const ADDRESS_STAGGER_MS = 250
const KEEP_ALIVE_AFTER_MS = 60_000

/** Finds the addresses of a name; by default the system's resolver. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

export interface DialOptions extends Address {
  readonly clock: Clock
  /** Must fire in the end: there is no other time limit. The promise then rejects with its reason. */
  readonly signal: AbortSignal
  readonly resolve?: Resolve | undefined
}

/** A connected socket that is not read from yet, with a listener for errors on it. */
export async function dial({ host, port, clock, signal, resolve = systemResolve }: DialOptions): Promise<Socket> {
  const where = formatAddress({ host, port })
  // Node's lookup cannot be called off; what it finds too late is dropped.
  const addresses = await untilAborted(addressesOf(bareHost(host), where, resolve), signal)
  const tasks = addresses.map(
    ({ address }) =>
      (unneeded: AbortSignal) =>
        connectTo(address, port, unneeded),
  )
  try {
    return await staggered(tasks, {
      clock,
      staggerMs: ADDRESS_STAGGER_MS,
      signal,
      onLate: (socket) => socket.destroy(),
    })
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    const reasons = error.errors.map(
      (one: NodeJS.ErrnoException, i) => `${addresses[i]?.address}: ${one.code ?? one.message}`,
    )
    const cause: unknown = error.errors.length === 1 ? error.errors[0] : error
    throw new ConnectionError(`cannot connect to ${where} (${reasons.join('; ')})`, { cause })
  }
}

async function addressesOf(host: string, where: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const family = isIP(host.split('%')[0] as string)
  if (family !== 0) return [{ address: host, family }]
  try {
    return alternating(await resolve(host))
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new ConnectionError(`cannot find the address of ${where} (${code ?? message})`, { cause })
  }
}

/** The families in turn, so that one that is broken costs only one stagger. */
function alternating(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family)
  const second = addresses.filter(({ family }) => family !== addresses[0]?.family)
  const mixed: LookupAddress[] = []
  for (let i = 0; i < Math.max(first.length, second.length); i++) {
    for (const one of [first[i], second[i]]) if (one) mixed.push(one)
  }
  return mixed
}

function systemResolve(host: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, addresses) => {
      if (error) reject(error)
      else resolve(addresses)
    })
  })
}

function connectTo(host: string, port: number, unneeded: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS })
    const onUnneeded = () => {
      socket.destroy()
      reject(new ConnectionError('another address was faster'))
    }
    unneeded.addEventListener('abort', onUnneeded, { once: true })
    socket.on('error', (error) => {
      unneeded.removeEventListener('abort', onUnneeded)
      reject(error)
    })
    socket.once('connect', () => {
      unneeded.removeEventListener('abort', onUnneeded)
      resolve(socket)
    })
  })
}
