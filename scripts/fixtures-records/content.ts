// The records in the recorded batches, by a formula, so that the bytes need no list of expected values beside them. RecordFixtures.java
// has the same formula for what Java writes.

export interface ContentRecord {
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: readonly (readonly [string, string | null])[]
}

/** Enough for several blocks of each codec: of 32 KiB (snappy), 64 KiB (lz4), 128 KiB (zstd). */
export const contentCount = 1_000
export const contentStart = 1_700_000_000_000

const words = ['anchor', 'breeze', 'cargo', 'drift', 'ebb', 'flood', 'gale', 'harbour', 'île', 'jetty', 'keel', '🚢']

export function contentText(i: number): string {
  let seed = (i + 1) | 0
  let note = ''
  for (let k = 0; k < 12; k++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    note += ` ${words[(seed >>> 8) % words.length]}`
  }
  return `{"order":${i},"customer":"c-${(i * 7919) % 997}","note":"${note.slice(1)}"}`
}

/** What kcat is given: no nulls, headers or timestamps. */
export function plainRecord(i: number): { readonly key: string; readonly value: string } {
  return { key: `key-${i}`, value: contentText(i) }
}

/** What Java is given. */
export function contentRecord(i: number): ContentRecord {
  return {
    timestamp: contentStart + i * 37 - (i % 3) * 1000,
    key: i % 7 === 0 ? null : i % 29 === 0 ? '' : `key-${i}`,
    value: i % 11 === 0 ? null : i % 13 === 0 ? '' : contentText(i),
    headers:
      i % 5 === 0
        ? [
            ['trace', `t-${i}`],
            ['trace', null],
            ['', ''],
          ]
        : [],
  }
}
