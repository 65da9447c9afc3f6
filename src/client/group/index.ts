// The public names of the GroupMember.
export { CommitError } from './commits.js'
export type { CommitOutcome, CommittedOffset } from './committed-offsets.js'
export type { AssignmentEvent, GroupMemberEvents, MemberState } from './events.js'
export { GroupMember, type CommitOptions } from './group-member.js'
export type { AssignorName, CommitPolicy, GroupMemberOptions } from './options.js'
