// A topic and its partitions as the whole cluster knows them. A partition holds its log and what its leader must remember.
import type { ConfigView } from './config/config-set.js'
import { LeaderEpochs } from './log/leader-epochs.js'
import { MemoryLog } from './log/memory-log.js'
import type { PartitionLog } from './log/partition-log.js'
import { ProducerStates } from './log/producer-states.js'
import type { TopicSettings } from './config/topic-settings.js'

export const noLeader = -1

export interface Topic {
  readonly name: string
  readonly id: string
  readonly isInternal: boolean
  readonly partitions: Partition[]
  /** Texts set for this topic. */
  readonly configTexts: Map<string, string>
  readonly config: ConfigView
  /** Of the config, what every append asks for. */
  settings: TopicSettings
}

export class Partition {
  readonly topic: Topic
  readonly index: number
  /** As errors about its records name it. */
  readonly source: { readonly topic: string; readonly partition: number }
  /** The broker that owns the partition; one, until there is replication. */
  replicas: readonly number[]
  leaderId: number
  leaderEpoch = 0
  readonly log: PartitionLog = new MemoryLog()
  readonly producers = new ProducerStates()
  readonly epochs = new LeaderEpochs()
  readonly #watchers = new Set<() => void>()

  constructor(topic: Topic, index: number, replicas: readonly number[]) {
    this.topic = topic
    this.index = index
    this.source = { topic: topic.name, partition: index }
    this.replicas = replicas
    this.leaderId = replicas[0] ?? noLeader
    this.epochs.assign(this.leaderEpoch, 0)
  }

  get settings(): TopicSettings {
    return this.topic.settings
  }

  get highWatermark(): number {
    return this.log.endOffset
  }

  get lastStableOffset(): number {
    return this.log.endOffset
  }

  /** Every change of the leader is a new epoch, the loss of the leader too (as in KRaft). */
  setLeader(brokerId: number): void {
    if (brokerId === this.leaderId) return
    this.leaderId = brokerId
    this.leaderEpoch++
    if (brokerId !== noLeader) this.epochs.assign(this.leaderEpoch, this.log.endOffset)
    this.changed()
  }

  /** Calls `watcher` after every append and every change of leader or start; returns what ends that. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Forgets what lies before an offset. */
  deleteBefore(offset: number): void {
    this.log.advanceStart(offset)
    this.epochs.advanceStart(this.log.startOffset)
    this.changed()
  }

  /** Tells the long polls to look again. */
  changed(): void {
    for (const watcher of this.#watchers) watcher()
  }
}
