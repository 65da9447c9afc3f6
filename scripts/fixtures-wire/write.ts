// Which messages get fixtures: all that are declared.
import * as structs from '../../src/protocol/messages/consumer-protocol.js'
import { apis } from '../../src/protocol/messages/registry.js'
import { java } from './oracle.js'

export function writeFixtures(folder: string): void {
  java('WireFixtures', [folder, ...Object.keys(apis), ...Object.keys(structs)])
}
