// The public names of the Admin.
export { Admin, type AdminEvents } from './admin.js'
export type { AdminOptions } from './admin-options.js'
export type { GroupList, GroupListing, GroupState, GroupType, ListGroupsOptions, UnlistedBroker } from './group-list.js'
export type {
  DeleteGroupOffsetResult,
  GroupOffset,
  GroupOffsetResult,
  ListGroupOffsetsOptions,
  NewGroupOffset,
  PartitionLike,
  SetGroupOffsetResult,
} from './group-offsets.js'
export type { DeleteGroupResult, DescribeGroupResult, GroupDescription, GroupMemberDescription } from './groups.js'
export type {
  ListedOffset,
  ListOffsetsOptions,
  ListOffsetsResult,
  OffsetAt,
  OffsetQuestion,
  PartitionOffset,
} from './offsets.js'
export type { DeletedRecords, DeleteRecordsResult, RecordsToDelete } from './records.js'
export type { AdminResult, ItemOutcome } from './settle.js'
export type {
  AddPartitionsOptions,
  AddPartitionsResult,
  CreatedTopic,
  CreateTopicResult,
  CreateTopicsOptions,
  NewPartitions,
  NewTopic,
} from './topic-creation.js'
export type {
  DeleteTopicResult,
  DescribeTopicResult,
  ListTopicsOptions,
  TopicDescription,
  TopicListing,
} from './topics.js'
