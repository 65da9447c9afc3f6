// The little of Kafka's protocol that the bench itself speaks: one connection, topics, end offsets, in old versions that every broker
// still answers. Without retries, without TLS: neither a client nor an example of one.
import net from 'node:net'

// One socket. A response frame is one Buffer: the socket's own chunk when the frame lies inside it, else one copy.
export class Connection {
  #socket
  #waiting = new Map()
  #correlation = 0
  #length = Buffer.alloc(4)
  #lengthFilled = 0
  #frame = null
  #frameFilled = 0

  static open(address) {
    const at = address.lastIndexOf(':')
    return new Promise((resolve, reject) => {
      const socket = net.connect(Number(address.slice(at + 1)), address.slice(0, at))
      socket.setNoDelay(true)
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Connection(socket)))
    })
  }

  constructor(socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#read(chunk))
  }

  // Writes the request header into `buffer` and returns where the body starts. The length is patched by send().
  header(buffer, api, version) {
    buffer.writeInt16BE(api, 4)
    buffer.writeInt16BE(version, 6)
    buffer.writeInt32BE(++this.#correlation, 8)
    buffer.writeInt16BE(1, 12)
    buffer[14] = 98 // client id "b"
    return 15
  }

  // Sends the request of the latest header(); `answered` gets the response frame, whose body starts at 4.
  send(buffer, end, answered) {
    buffer.writeInt32BE(end - 4, 0)
    this.#waiting.set(this.#correlation, answered)
    this.#socket.write(end === buffer.length ? buffer : buffer.subarray(0, end))
  }

  // One request whose body `write(buffer, at)` writes, returning its end.
  call(api, version, write) {
    const buffer = Buffer.alloc(65536)
    const end = write(buffer, this.header(buffer, api, version))
    return new Promise((resolve) => this.send(buffer, end, resolve))
  }

  close() {
    this.#socket.destroy()
  }

  #read(chunk) {
    for (let at = 0; at < chunk.length;) {
      if (this.#frame === null) {
        while (this.#lengthFilled < 4 && at < chunk.length) this.#length[this.#lengthFilled++] = chunk[at++]
        if (this.#lengthFilled < 4) return
        const length = this.#length.readInt32BE(0)
        this.#lengthFilled = 0
        if (chunk.length - at >= length) {
          this.#answer(chunk.subarray(at, at + length))
          at += length
          continue
        }
        this.#frame = Buffer.allocUnsafeSlow(length)
        this.#frameFilled = 0
      }
      const taken = Math.min(this.#frame.length - this.#frameFilled, chunk.length - at)
      chunk.copy(this.#frame, this.#frameFilled, at, at + taken)
      this.#frameFilled += taken
      at += taken
      if (this.#frameFilled === this.#frame.length) {
        const frame = this.#frame
        this.#frame = null
        this.#answer(frame)
      }
    }
  }

  #answer(frame) {
    const correlation = frame.readInt32BE(0)
    const answered = this.#waiting.get(correlation)
    this.#waiting.delete(correlation)
    answered(frame)
  }
}

const putString = (b, at, s) => {
  b.writeInt16BE(s.length, at)
  return at + 2 + b.latin1Write(s, at + 2)
}
const putInt32 = (b, at, v) => b.writeInt32BE(v, at)

class Cursor {
  at = 4
  constructor(buffer) {
    this.buffer = buffer
  }
  int8() {
    return this.buffer.readInt8(this.at++)
  }
  int16() {
    this.at += 2
    return this.buffer.readInt16BE(this.at - 2)
  }
  int32() {
    this.at += 4
    return this.buffer.readInt32BE(this.at - 4)
  }
  int64() {
    this.at += 8
    return Number(this.buffer.readBigInt64BE(this.at - 8))
  }
  string() {
    const length = this.int16()
    if (length < 0) return null
    this.at += length
    return this.buffer.latin1Slice(this.at - length, this.at)
  }

  array(read) {
    return Array.from({ length: Math.max(0, this.int32()) }, read)
  }
}

const METADATA = 3
const LIST_OFFSETS = 2
const FIND_COORDINATOR = 10
const CREATE_TOPICS = 19
const DELETE_TOPICS = 20
const TOPIC_ALREADY_EXISTS = 36

// { nodes: Map id -> "host:port", leaders: [leader of partition 0, ...] }; leaders is empty while the topic is unknown.
export async function metadata(connection, topic) {
  const r = new Cursor(await connection.call(METADATA, 1, (b, at) => putString(b, putInt32(b, at, 1), topic)))
  const nodes = new Map(
    r.array(() => {
      const id = r.int32(),
        address = `${r.string()}:${r.int32()}`
      r.string()
      return [id, address]
    }),
  )
  r.int32() // controller
  const leaders = []
  r.array(() => {
    r.int16()
    r.string()
    r.int8()
    r.array(() => {
      const error = r.int16(),
        partition = r.int32(),
        leader = r.int32()
      r.array(() => r.int32())
      r.array(() => r.int32())
      if (error === 0) leaders[partition] = leader
    })
  })
  return { nodes, leaders }
}

export async function createTopic(connection, topic, partitions) {
  const r = new Cursor(
    await connection.call(CREATE_TOPICS, 2, (b, at) => {
      at = putString(b, putInt32(b, at, 1), topic)
      at = putInt32(b, at, partitions)
      at = b.writeInt16BE(1, at) // replication factor
      at = putInt32(b, putInt32(b, at, 0), 0) // assignments, configs
      at = putInt32(b, at, 30000)
      return b.writeInt8(0, at) // validate only
    }),
  )
  r.int32()
  r.array(() => {
    r.string()
    const error = r.int16(),
      message = r.string()
    if (error !== 0 && error !== TOPIC_ALREADY_EXISTS)
      throw new Error(`cannot create ${topic}: error ${error} ${message}`)
  })
  for (let i = 0; i < 200; i++) {
    const { leaders } = await metadata(connection, topic)
    if (leaders.length === partitions && leaders.every((leader) => leader >= 0)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${topic} has no leaders after 10 s`)
}

// Waits until the cluster can run a group: its offsets topic is made on the first request for a coordinator.
export async function groupsReady(connection) {
  for (let i = 0; i < 200; i++) {
    const r = new Cursor(
      await connection.call(FIND_COORDINATOR, 1, (b, at) => b.writeInt8(0, putString(b, at, 'bench-warm-up'))),
    )
    r.int32()
    if (r.int16() === 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('no group coordinator after 20 s')
}

export async function deleteTopic(connection, topic) {
  await connection.call(DELETE_TOPICS, 1, (b, at) => putInt32(b, putString(b, putInt32(b, at, 1), topic), 30000))
}

// The end offset of each partition, asked of its leader.
export async function endOffsets(connection, topic) {
  const { nodes, leaders } = await metadata(connection, topic)
  const ends = []
  for (const [partition, leader] of leaders.entries()) {
    const to = nodes.size === 1 ? connection : await Connection.open(nodes.get(leader))
    const r = new Cursor(
      await to.call(LIST_OFFSETS, 1, (b, at) => {
        at = putInt32(b, putInt32(b, at, -1), 1)
        at = putInt32(b, putString(b, at, topic), 1)
        return b.writeBigInt64BE(-1n, putInt32(b, at, partition))
      }),
    )
    r.array(() => {
      r.string()
      r.array(() => {
        r.int32()
        r.int16()
        r.int64()
        ends[partition] = r.int64()
      })
    })
    if (to !== connection) to.close()
  }
  return ends
}
