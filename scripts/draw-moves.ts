// Draws the state machines of docs/design from their tables of moves: npm run docs:diagrams. A test compares, so that no drawing can lie.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MOVES as brokerGroupMoves } from '../src/broker/groups/classic-group.js'
import { MOVES as sessionMoves } from '../src/client/consumer/fetch-session.js'
import { MOVES as membershipMoves } from '../src/client/group/membership/classic.js'

type Moves = Readonly<Record<string, readonly string[]>>

/** Every page with the drawings in it, by the name in its `<!-- moves: name -->` mark. */
export const drawings: readonly { readonly page: string; readonly name: string; readonly moves: Moves }[] = [
  { page: 'docs/design/groups.md', name: 'membership', moves: membershipMoves },
  { page: 'docs/design/groups.md', name: 'group', moves: brokerGroupMoves },
  { page: 'docs/design/consume-path.md', name: 'fetch session', moves: sessionMoves },
]

function drawn(moves: Moves): string {
  const [first] = Object.keys(moves)
  const lines = Object.entries(moves).flatMap(([from, targets]) =>
    targets.length === 0 ? [`  ${from} --> [*]`] : targets.map((to) => `  ${from} --> ${to}`),
  )
  return ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...lines, '```'].join('\n')
}

/** The page with its drawings as the tables have them now. */
export function withDrawings(page: string, text: string): string {
  return drawings
    .filter((drawing) => drawing.page === page)
    .reduce((result, { name, moves }) => {
      const mark = new RegExp(`(<!-- moves: ${name} -->\\n)[\\s\\S]*?(\\n<!-- end -->)`)
      if (!mark.test(result)) throw new Error(`${page} has no <!-- moves: ${name} --> … <!-- end -->`)
      return result.replace(mark, (_, begin: string, end: string) => `${begin}\n${drawn(moves)}\n${end}`)
    }, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const page of new Set(drawings.map((drawing) => drawing.page))) {
    writeFileSync(page, withDrawings(page, readFileSync(page, 'utf8')))
  }
}
