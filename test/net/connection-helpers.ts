// Opens connections to the fake server.
import { Connection, type ConnectionOptions } from '../../src/net/connection.js'
import { systemClock } from '../../src/util/clock.js'

export const heartbeat = { groupId: 'g', generationId: 1, memberId: 'm' }

export function open(server: { readonly port: number }, options: Partial<ConnectionOptions> = {}): Promise<Connection> {
  return Connection.open({
    host: '127.0.0.1',
    port: server.port,
    clientId: 'test',
    clock: systemClock,
    requestTimeoutMs: 5000,
    connectTimeoutMs: 5000,
    ...options,
  })
}
