// zstd: node:zlib where it has it (Node 22.15 and later); before, our own decoder reads, and libzstd as WebAssembly, loaded at
// first use, writes. Reads several frames, with or without a content size.
import * as zlib from 'node:zlib'
import { isKafkaError, UsageError } from '../../../errors.js'
import { BoundedOutput, corrupt, type Codec } from './codec.js'
import { decodeZstdFrame } from './zstd-decoder.js'
import { zstdFrameBytes, zstdFrames, type ZstdFrame } from './zstd-frames.js'

/** What newer versions of node:zlib have, as far as it is used here. */
interface ZstdOfZlib {
  zstdCompressSync?(bytes: Uint8Array, options: { params: Record<number, number> }): Buffer
  zstdDecompressSync?(bytes: Uint8Array, options: { maxOutputLength: number; params: Record<number, number> }): Buffer
  readonly constants: { readonly ZSTD_c_compressionLevel?: number; readonly ZSTD_d_windowLogMax?: number }
}

interface Encoder {
  compress(bytes: Uint8Array, level: number): Uint8Array
}

const defaultLevel = 3

/** Reads one frame, whose headers were checked, to the end of `out`. */
type FrameReader = (input: Buffer, frame: ZstdFrame, out: BoundedOutput) => void

const readWithScript: FrameReader = (input, { start, end, blocksAt }, out) => {
  decodeZstdFrame(input.subarray(start, end), blocksAt - start, out)
}

function readWithZlib({ zstdDecompressSync, constants }: Required<ZstdOfZlib>): FrameReader {
  const params = { [constants.ZSTD_d_windowLogMax!]: 31 }
  return (input, frame, out) => {
    const bytes = zstdFrameBytes(input, frame, out.maxBytes)
    try {
      out.append(zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, out.maxBytes - out.length), params }))
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw out.tooLarge()
      throw error
    }
  }
}

/** Made by parts, so that both ways can be tested on every Node. */
export function createZstd(fromZlib: ZstdOfZlib): Codec {
  const hasZlib = fromZlib.zstdCompressSync !== undefined && fromZlib.zstdDecompressSync !== undefined
  const readFrame = hasZlib ? readWithZlib(fromZlib as Required<ZstdOfZlib>) : readWithScript
  let encoder: Encoder | null = hasZlib ? encoderOfZlib(fromZlib as Required<ZstdOfZlib>) : null
  let loading: Promise<void> | null = null

  return {
    id: 4,
    name: 'zstd',
    load() {
      if (encoder !== null) return null
      loading ??= loadWasmEncoder().then(
        (loaded) => {
          encoder = loaded
        },
        (error: unknown) => {
          loading = null
          throw error
        },
      )
      return loading
    },
    compress(bytes, level = defaultLevel) {
      if (encoder === null) throw new UsageError('the zstd encoder is not loaded yet: await load() first')
      const out = encoder.compress(bytes, level)
      return Buffer.from(out.buffer, out.byteOffset, out.length)
    },
    decompress(bytes, maxBytes) {
      const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      const frames = zstdFrames(input, maxBytes)
      let expected = 0
      for (const { contentSize, atLeast } of frames) expected += contentSize ?? atLeast
      const out = new BoundedOutput('zstd', maxBytes, expected)
      for (const frame of frames) {
        const before = out.length
        try {
          readFrame(input, frame, out)
        } catch (error) {
          if (isKafkaError(error)) throw error
          throw corrupt('zstd', error instanceof Error ? error.message : 'not readable', error)
        }
        if (frame.contentSize !== null && out.length - before !== frame.contentSize) {
          throw corrupt('zstd', `a frame of ${frame.contentSize} bytes gave ${out.length - before}`)
        }
      }
      return out.finish()
    },
  }
}

function encoderOfZlib({ zstdCompressSync, constants }: Required<ZstdOfZlib>): Encoder {
  const key = constants.ZSTD_c_compressionLevel!
  return { compress: (bytes, level) => zstdCompressSync(bytes, { params: { [key]: level } }) }
}

async function loadWasmEncoder(): Promise<Encoder> {
  const { Zstd } = await import('@hpcc-js/wasm-zstd')
  return await Zstd.load()
}

export const zstd: Codec = createZstd(zlib as unknown as ZstdOfZlib)
