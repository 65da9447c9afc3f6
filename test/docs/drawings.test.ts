import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { drawings, withDrawings } from '../../scripts/draw-moves.js'

it.each([...new Set(drawings.map(({ page }) => page))])('%s draws its state machines as they are', (page) => {
  const text = readFileSync(page, 'utf8')
  expect(text, 'run npm run docs:diagrams').toBe(withDrawings(page, text))
})
