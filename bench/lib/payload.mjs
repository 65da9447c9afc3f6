// What all clients send: texts like JSON of an exact size, half of each random hex, and the keys of a few thousand users.
import { randomBytes } from 'node:crypto'

// Powers of two, so that `index & (n - 1)` picks one.
export const valueCount = 1024
export const keyCount = 4096
/** Where a value has the last digit of its id, which is 1000000 + its index. */
export const idDigitAt = 12

export const keys = Array.from({ length: keyCount }, (_, i) => `user-${i}`)

export function values(bytes) {
  return Array.from({ length: valueCount }, (_, i) => {
    let text = `{"id":${1_000_000 + i},"user":"user-${(i * 7919) % 5000}","v":"`
    while (text.length < bytes - 2) text += randomBytes(9).toString('hex').slice(0, 17) + ' level=info '
    return text.slice(0, bytes - 2) + '"}'
  })
}
