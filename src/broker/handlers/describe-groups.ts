// DescribeGroups, versions 0-6: as Apache Kafka's. A group that is not there is Dead without an error up to version 5, and
// GROUP_ID_NOT_FOUND from 6 (KIP-1043). What members subscribed to is told of a stable group only.
import { DescribeGroups } from '../../protocol/messages/describe-groups.js'
import { errorCodes, type ErrorName } from '../../protocol/messages/error-table.js'
import { noAuthorizedOperations } from '../../protocol/messages/metadata.js'
import { noBytes, type Member } from '../groups/classic-group.js'
import { metadataFor } from '../groups/group-members.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

/** Without ACLs a client may do whatever there is to do with a group: read, delete, describe, and describe or alter its configs. */
const allGroupOperations = [3, 6, 8, 10, 11].reduce((bits, operation) => bits | (1 << operation), 0)

export const describeGroupsHandler = (groups: Groups) =>
  handler(DescribeGroups, (request, { broker, version }) => ({
    groups: request.groups.map((groupId) => {
      const notCoordinator = groups.coordinatorError(groupId, broker.id)
      if (notCoordinator !== 'NONE') return absent(groupId, '', notCoordinator)
      const authorizedOperations = request.includeAuthorizedOperations ? allGroupOperations : noAuthorizedOperations
      const state = groups.get(groupId)?.state
      if (!state || state.kind === 'Dead')
        return version < 6
          ? { ...absent(groupId, 'Dead', 'NONE'), authorizedOperations }
          : { ...absent(groupId, 'Dead', 'GROUP_ID_NOT_FOUND'), errorMessage: `Group ${groupId} not found.` }
      const protocol = state.kind === 'Stable' ? state.protocol : null
      return {
        ...absent(groupId, state.kind, 'NONE'),
        protocolType: state.protocolType ?? '',
        protocolData: protocol ?? '',
        members: state.kind === 'Empty' ? [] : [...state.members.values()].map((member) => described(member, protocol)),
        authorizedOperations,
      }
    }),
  }))

function absent(groupId: string, groupState: string, error: ErrorName) {
  return { errorCode: errorCodes[error], groupId, groupState, protocolType: '', protocolData: '', members: [] }
}

function described(member: Member, protocol: string | null) {
  return {
    memberId: member.memberId,
    groupInstanceId: member.instanceId,
    clientId: member.clientId,
    clientHost: `/${member.clientHost}`,
    memberMetadata: protocol === null ? noBytes : (metadataFor(member, protocol) ?? noBytes),
    memberAssignment: member.assignment,
  }
}
