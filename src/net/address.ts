// host:port as users and brokers write it: names, IPv4, and IPv6 with or without brackets.
export interface Address {
  readonly host: string
  readonly port: number
}

/** `host:port`, `1.2.3.4:9092`, `[::1]:9092`; undefined when the text is none of these. A URL's scheme is not accepted. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-f:.%\w]+)\]|([^\s[\]:/@]+)):(\d{1,5})$/i.exec(text)
  if (!match) return undefined
  const port = Number(match[3])
  if (port < 1 || port > 65_535) return undefined
  return { host: (match[1] ?? match[2]) as string, port }
}

/** As it is shown: an IPv6 address in brackets. */
export function formatAddress({ host, port }: Address): string {
  const bare = bareHost(host)
  return bare.includes(':') ? `[${bare}]:${port}` : `${bare}:${port}`
}

/** Without the brackets that some brokers put around an IPv6 address in their metadata. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
