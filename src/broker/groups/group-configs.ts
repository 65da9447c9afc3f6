// The broker configs that the group coordinator reads, as of Apache Kafka 4.4 (the initial delay is 0 here unless it is set).
import { atLeast, type ConfigDefinition } from '../config/definition.js'

export const groupConfigs: readonly ConfigDefinition[] = [
  {
    name: 'group.min.session.timeout.ms',
    type: 'int',
    default: '6000',
    readOnly: true,
    documentation: 'The shortest session timeout that a classic member may ask for.',
  },
  {
    name: 'group.max.session.timeout.ms',
    type: 'int',
    default: '1800000',
    readOnly: true,
    documentation: 'The longest session timeout that a classic member may ask for.',
  },
  {
    name: 'group.initial.rebalance.delay.ms',
    type: 'int',
    default: '0',
    check: atLeast(0),
    readOnly: true,
    documentation:
      'How long the first rebalance of an empty group waits for more members; each one that comes prolongs it.',
  },
  {
    name: 'group.max.size',
    type: 'int',
    default: '2147483647',
    check: atLeast(1),
    readOnly: true,
    documentation: 'The most members a group may have.',
  },
  {
    name: 'offset.metadata.max.bytes',
    type: 'int',
    default: '4096',
    readOnly: true,
    documentation: 'The longest text that may be committed along with an offset.',
  },
  {
    name: 'offsets.retention.minutes',
    type: 'int',
    default: '10080',
    check: atLeast(1),
    readOnly: true,
    documentation: 'How long committed offsets stay when nobody uses them any more.',
  },
  {
    name: 'offsets.retention.check.interval.ms',
    type: 'long',
    default: '600000',
    check: atLeast(1),
    readOnly: true,
    documentation: 'How often offsets are looked through for those past their retention.',
  },
  {
    name: 'offsets.topic.num.partitions',
    type: 'int',
    default: '50',
    check: atLeast(1),
    readOnly: true,
    documentation: 'Partitions of the offsets topic, over which the groups are shared out among the brokers.',
  },
]
