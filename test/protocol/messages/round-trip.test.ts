// Whatever a message may hold comes back as it was, in every version.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryMessage } from './arbitrary-message.js'
import { decode, declaredMessages, encode, versionsOf } from './wire-fixtures.js'

describe.each(declaredMessages)('$name $of', ({ message }) => {
  test.each(versionsOf(message))('of version %i comes back from its bytes with every field', (version) => {
    fc.assert(
      fc.property(arbitraryMessage(message.fields, version), (value) => {
        const bytes = encode(message, version, value)
        const back = decode(message, version, bytes)
        expect(Object.keys(back as object)).toEqual(Object.keys(message.fields))
        expect(back).toMatchObject(value)
        expect(encode(message, version, back).equals(bytes)).toBe(true)
      }),
      { seed: version, numRuns: 20 },
    )
  })
})
