// What the tour claims, counted: every claim is compared with what was expected, and one that is off fails the program.
import { green, red, table } from './screen.js'

interface Check {
  readonly what: string
  readonly expected: number
  readonly counted: number
}

export class Checks {
  readonly #checks: Check[] = []

  add(what: string, expected: number, counted: number): void {
    this.#checks.push({ what, expected, counted })
  }

  get areAllRight(): boolean {
    return this.#checks.length > 0 && this.#checks.every(({ expected, counted }) => expected === counted)
  }

  print(): void {
    table(
      ['claim', 'expected', 'counted', ''],
      this.#checks.map(({ what, expected, counted }) => [
        what,
        expected,
        counted,
        expected === counted ? green('ok') : red('OFF'),
      ]),
    )
  }
}
