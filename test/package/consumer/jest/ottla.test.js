// A Jest test in CommonJS, as Jest is without any configuration.
const { job } = require('../job.cjs')

test('a program produces and consumes with every codec inside Jest', async () => {
  expect(await job()).toBe(1000)
})
