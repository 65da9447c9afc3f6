// The answer to a change of several resources' configs: each succeeds or fails by itself, and none may be named twice.
import { errorCodes } from '../protocol/messages/error-table.js'
import { byKey } from './by-key.js'
import { Refused } from './topic-creation.js'

interface Resource {
  readonly resourceType: number
  readonly resourceName: string
}

/** `alter` throws Refused. */
export function alterEach<R extends Resource>(resources: readonly R[], alter: (resource: R) => void) {
  const keyOf = ({ resourceType, resourceName }: Resource) => `${resourceType}/${resourceName}`
  const named = byKey(resources, keyOf)
  return resources.map((resource) => {
    const { resourceType, resourceName } = resource
    try {
      if (named.get(keyOf(resource))?.isRepeated) {
        throw new Refused(errorCodes.INVALID_REQUEST, 'Each resource must appear at most once.')
      }
      alter(resource)
      return { errorCode: errorCodes.NONE, errorMessage: null, resourceType, resourceName }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { errorCode: error.code, errorMessage: error.message, resourceType, resourceName }
    }
  })
}
