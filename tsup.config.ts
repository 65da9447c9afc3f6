// The build: ESM (library and command line), CJS (library) and types for both, with shared chunks, so that every entry of a
// format uses one copy of the error classes. The CJS build bundles p-retry and what it needs: they are ESM only; treeshake has
// rollup make its chunks, without which tsup's own way to split CJS would rewrite every `?.` into a slow helper call.
import { defineConfig, type Options } from 'tsup'

type Plugin = NonNullable<Options['plugins']>[number]

/** In CJS a chunk loaded at first use is loaded by require: Jest, for one, cannot carry out import(). */
const requireChunks: Plugin = {
  name: 'require-chunks',
  renderChunk: (code) => ({
    code: code.replace(/\bimport\((["']\.[^"']+\.cjs["'])\)/g, 'Promise.resolve().then(() => require($1))'),
  }),
}

const library = { index: 'src/index.ts', broker: 'src/broker.ts' }

const shared: Options = {
  outDir: 'dist',
  platform: 'node',
  target: 'node20',
  splitting: true,
  sourcemap: false,
  dts: { entry: library },
}

export default defineConfig([
  { ...shared, entry: { ...library, 'cli/ottla': 'src/cli/ottla.ts' }, format: 'esm' },
  {
    ...shared,
    entry: library,
    format: 'cjs',
    treeshake: true,
    plugins: [requireChunks],
    noExternal: ['p-retry', 'is-network-error'],
  },
])
