// gzip by node:zlib, synchronous: an asynchronous call costs more than it saves at the size of a batch.
import { gunzipSync, gzipSync } from 'node:zlib'
import { corrupt, tooLarge, type Codec } from './codec.js'

export const gzip: Codec = {
  id: 1,
  name: 'gzip',
  load: () => null,
  // Left out, the level is zlib's default (6), as Java's.
  compress: (bytes, level) => gzipSync(bytes, level === undefined ? {} : { level }),
  decompress(bytes, maxBytes) {
    try {
      return gunzipSync(bytes, { maxOutputLength: Math.max(1, maxBytes) })
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge('gzip', maxBytes)
      throw corrupt('gzip', error instanceof Error ? error.message : 'not readable', error)
    }
  },
}
