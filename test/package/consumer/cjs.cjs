// A CommonJS program that has installed ottla.
const { job } = require('./job.cjs')

job().then(
  (records) => {
    if (records !== 1000) throw new Error(`expected 1000 records, got ${records}`)
    console.log(`ok ${records} records`)
  },
  (error) => {
    console.error(error)
    process.exitCode = 1
  },
)
