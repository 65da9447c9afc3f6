// ListGroups, versions 0-5: as Apache Kafka's: the groups of the broker that is asked, by state (KIP-518) and type (KIP-848).
// All groups are classic ones yet.
import { errorCodes } from '../../protocol/messages/error-table.js'
import { ListGroups } from '../../protocol/messages/list-groups.js'
import type { Groups } from '../groups/groups.js'
import { handler } from './handler.js'

export const listGroupsHandler = (groups: Groups) =>
  handler(ListGroups, ({ statesFilter, typesFilter }, { broker }) => {
    const states = new Set(statesFilter.map((state) => state.toLowerCase()))
    const types = new Set(typesFilter.map((type) => type.toLowerCase()))
    const isAskedFor = (kind: string) =>
      (states.size === 0 || states.has(kind.toLowerCase())) && (types.size === 0 || types.has('classic'))
    return {
      errorCode: errorCodes.NONE,
      groups: groups
        .list(broker.id)
        .flatMap(({ groupId, state }) =>
          state.kind !== 'Dead' && isAskedFor(state.kind)
            ? { groupId, protocolType: state.protocolType ?? '', groupState: state.kind, groupType: 'classic' }
            : [],
        ),
    }
  })
