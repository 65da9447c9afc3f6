// DeleteGroups, versions 0-3: as Apache Kafka's (KIP-229). Only a group without members goes, and its offsets with it.
import { errorCodes, type ErrorName } from '../../protocol/messages/error-table.js'
import { DeleteGroups } from '../../protocol/messages/delete-groups.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

export const deleteGroupsHandler = (groups: Groups) =>
  handler(DeleteGroups, ({ groupsNames }, { broker }) => {
    const remove = (groupId: string): ErrorName => {
      const error = groups.coordinatorError(groupId, broker.id)
      if (error !== 'NONE') return error
      const group = groups.get(groupId)
      if (!group) return 'GROUP_ID_NOT_FOUND'
      if (group.state.kind !== 'Empty') return 'NON_EMPTY_GROUP'
      groups.delete(group)
      return 'NONE'
    }
    const results = [...new Set(groupsNames)].map((groupId) => ({ groupId, errorCode: errorCodes[remove(groupId)] }))
    return { throttleTimeMs: 0, results }
  })
