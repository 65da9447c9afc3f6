// The import direction of docs/design: errors, util <- protocol <- net <- client, broker; cli and testing on both.
// In client: serde <- cluster <- producer, consumer, admin; group on consumer. No cycles; type imports count.

/** What each folder may import, besides itself. Whatever is not listed here is forbidden. */
const errors = '^src/errors\\.ts$'
const top = '^src/protocol/[^/]+\\.ts$'
const allowed = {
  'src/errors\\.ts$': [],
  'src/util/': [errors],
  'src/protocol/[^/]+\\.ts$': [errors, '^src/util/', '^src/protocol/wire/'],
  'src/protocol/wire/': [errors, '^src/util/'],
  'src/protocol/messages/': [errors, '^src/util/', top, '^src/protocol/wire/'],
  'src/protocol/records/': [errors, '^src/util/', top, '^src/protocol/wire/', '^src/protocol/messages/'],
  'src/protocol/assignment/': [errors, '^src/util/', top, '^src/protocol/wire/', '^src/protocol/messages/'],
  'src/net/': [errors, '^src/util/', '^src/protocol/'],
  'src/client/serde/': [errors, '^src/util/', '^src/protocol/'],
  'src/client/cluster/': [errors, '^src/util/', '^src/protocol/', '^src/net/', '^src/client/serde/'],
  'src/client/auth/': [errors, '^src/util/', '^src/protocol/', '^src/net/'],
  'src/client/producer/': [errors, '^src/util/', '^src/protocol/', '^src/net/', '^src/client/(serde|cluster)/'],
  'src/client/admin/': [errors, '^src/util/', '^src/protocol/', '^src/net/', '^src/client/(serde|cluster)/'],
  'src/client/consumer/': [errors, '^src/util/', '^src/protocol/', '^src/net/', '^src/client/(serde|cluster)/'],
  'src/client/group/': [errors, '^src/util/', '^src/protocol/', '^src/net/', '^src/client/(serde|cluster|consumer)/'],
  'src/broker/': [errors, '^src/util/', '^src/protocol/', '^src/net/'],
  'src/index\\.ts$': [errors, '^src/util/', '^src/protocol/', '^src/net/', '^src/client/'],
  'src/broker\\.ts$': [errors, '^src/util/', '^src/protocol/', '^src/net/', '^src/broker/'],
  'src/testing\\.ts$': ['^src/'],
  'src/cli/': ['^src/'],
}

const direction = Object.entries(allowed).map(([folder, targets]) => ({
  name: `direction of ${folder.replaceAll('\\', '').replace('$', '')}`,
  severity: 'error',
  comment: 'The arrows of docs/design may not turn.',
  from: { path: `^${folder}` },
  to: { path: '^src/', pathNot: [...(folder.endsWith('/') ? [`^${folder}`] : []), ...targets] },
}))

/** A part of client that grew a folder of its own must be given its place above. */
const known = Object.keys(allowed).map((folder) => `^${folder}`)

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...direction,
    {
      name: 'every source file has its place',
      severity: 'error',
      comment: 'Name the folder in .dependency-cruiser.cjs, with what it may import.',
      from: { path: '^src/', pathNot: known },
      to: {},
    },
    {
      name: 'every imported file has its place',
      severity: 'error',
      comment: 'Name the folder in .dependency-cruiser.cjs, with what it may import.',
      from: {},
      to: { path: '^src/', pathNot: known },
    },
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'nothing unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no development dependency in the library',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      // wasm-zstd is the one that the build puts into the library, loaded at first use.
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@hpcc-js/wasm-zstd/',
      },
    },
    {
      name: 'source never imports tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts|bench|examples)/' },
    },
    {
      name: 'nobody imports the entries',
      severity: 'error',
      from: { path: '^src/(?!cli/|testing)' },
      to: { path: '^src/(index|broker)\\.ts$' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
}
