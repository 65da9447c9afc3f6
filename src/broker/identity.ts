// Names that Kafka makes up or computes: random UUIDs in its text form, and Java's hash of a string.
import { randomBytes } from 'node:crypto'

/** 22 characters that never begin with '-', as command lines take them. */
export function randomUuid(): string {
  for (;;) {
    const bytes = randomBytes(16)
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
    const text = bytes.toString('base64url')
    if (!text.startsWith('-')) return text
  }
}

export function javaStringHash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0
  return hash
}
