// How this software presents itself to brokers (KIP-511); their metrics count clients by it. A test keeps it equal to package.json.
export const softwareName = 'ottla'
export const softwareVersion = '0.1.0'
