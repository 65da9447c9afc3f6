// UUIDs as Kafka prints them: 22 characters of URL-safe base64.
import { UsageError } from '../../errors.js'

export const zeroUuid = 'AAAAAAAAAAAAAAAAAAAAAA'

export function formatUuid(buffer: Buffer, at: number): string {
  return buffer.toString('base64url', at, at + 16)
}

export function parseUuid(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 16) throw new UsageError(`a UUID is 16 bytes in URL-safe base64, got "${text}"`)
  return bytes
}
