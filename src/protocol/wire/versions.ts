// Version ranges as Kafka's message definitions write them: '0-4', '3+', '2', 'none'.

export interface Versions {
  readonly min: number
  readonly max: number
}

export const everyVersion: Versions = { min: 0, max: Infinity }
export const noVersion: Versions = { min: Infinity, max: -Infinity }

export function parseVersions(text: string): Versions {
  if (text === 'none') return noVersion
  const match = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text)
  if (!match) throw new TypeError(`not a version range: ${text}`)
  const min = Number(match[1])
  return { min, max: match[2] ? Infinity : Number(match[3] ?? min) }
}

export function includes({ min, max }: Versions, version: number): boolean {
  return version >= min && version <= max
}
