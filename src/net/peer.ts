// Recognises who answers on a port that is not Kafka's, by the first bytes, so that the error can say what to change.

/** What the bytes look like, or undefined when they may be Kafka's. */
export function strangePeer(first: Buffer): string | undefined {
  if (first.length < 2) return undefined
  const text = first.toString('latin1', 0, 8)
  if (text.startsWith('HTTP')) return 'an HTTP server answers there; is this the right port?'
  if (text.startsWith('SSH-')) return 'an SSH server answers there; is this the right port?'
  // A TLS record: content type (alert, handshake), then version 3.x.
  if ((first[0] === 0x15 || first[0] === 0x16) && first[1] === 0x03) {
    return 'it answers in TLS; is this a TLS port? Use a plaintext listener'
  }
  return undefined
}
