// Compares the versions that brokers advertise: those of a running Apache Kafka with what our declarations call stable, and with what our
// own broker answers.
import { connect } from 'node:net'
import { once } from 'node:events'
import { startBroker } from '../../src/broker.js'
import { ApiVersions } from '../../src/protocol/messages/api-versions.js'
import { apis } from '../../src/protocol/messages/registry.js'
import { encodeRequest, FrameSplitter, readCorrelationId, skipResponseTags } from '../../src/protocol/wire/frame.js'
import { Reader, type Versions } from '../../src/protocol/wire/index.js'
import { startApacheKafka } from '../../test/helpers/apache-kafka.js'
import { show } from './fields.js'

type Ranges = ReadonlyMap<number, Versions>

export interface AdvertisedVersions {
  readonly ours: Ranges
  readonly kafkas: Ranges
  readonly differences: readonly string[]
}

export async function advertisedVersions(): Promise<AdvertisedVersions> {
  const [ours, kafkas] = await Promise.all([ofEmbeddedBroker(), ofApacheKafka()])
  const differences = [...ours].flatMap(([key, own]) => {
    const theirs = kafkas.get(key)
    if (theirs && show(own) === show(theirs)) return []
    return [`our broker advertises ${show(own)} of key ${key}, Kafka ${theirs ? show(theirs) : 'does not serve it'}`]
  })
  for (const { name, key, stableVersions } of Object.values(apis)) {
    if (!ours.has(key)) differences.push(`our broker does not serve ${name}`)
    const theirs = kafkas.get(key)
    // Kafka lists three versions of Produce that it refuses (KAFKA-18659).
    const expected = name === 'Produce' ? { min: 0, max: stableVersions.max } : stableVersions
    if (!theirs || show(expected) !== show(theirs)) {
      differences.push(
        `${name}: stable versions are ${show(expected)}, Kafka advertises ${theirs ? show(theirs) : 'none'}`,
      )
    }
  }
  return { ours, kafkas, differences }
}

async function ofApacheKafka(): Promise<Ranges> {
  await using kafka = await startApacheKafka()
  return await ask(kafka.brokers[0]!)
}

async function ofEmbeddedBroker(): Promise<Ranges> {
  await using kafka = await startBroker()
  return await ask(kafka.brokers[0]!)
}

async function ask(address: string): Promise<Ranges> {
  const [host, port] = address.split(':') as [string, string]
  const version = ApiVersions.stableVersions.max
  const socket = connect(Number(port), host)
  try {
    await once(socket, 'connect')
    const request = { clientSoftwareName: 'check-protocol', clientSoftwareVersion: '1' }
    socket.write(Buffer.concat(encodeRequest(ApiVersions, version, 1, 'check-protocol', request)))
    const reader = new Reader(await firstFrame(socket))
    readCorrelationId(reader)
    skipResponseTags(reader, ApiVersions, version)
    const { errorCode, apiKeys } = ApiVersions.response.read(reader, version)
    if (errorCode !== 0) throw new Error(`ApiVersions at ${address} answered error ${errorCode}`)
    return new Map(apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]))
  } finally {
    socket.destroy()
  }
}

async function firstFrame(socket: AsyncIterable<Buffer>): Promise<Buffer> {
  let frame: Buffer | undefined
  const splitter = new FrameSplitter(1 << 20, (whole) => (frame ??= whole))
  for await (const chunk of socket) {
    splitter.push(chunk)
    if (frame) return frame
  }
  throw new Error('the broker closed the connection before it answered')
}
