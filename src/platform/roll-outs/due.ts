import type { Node } from '../../fleet/node-records/model.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { RollOut } from './queries.ts'
import { isOpen } from './windows.ts'

/** Why a node does not begin although its wave has; undefined: nothing keeps it. */
export function keptBy(
  app: AppContext,
  rollOut: RollOut,
  { id, locationId }: Pick<Node, 'id' | 'locationId'>,
): 'away' | 'window' | undefined {
  if (!app.nodes.connected(id) && !app.releases.hasAskedLately(id)) return 'away'
  const window = rollOut.windows.find((one) => one.locationId === locationId)
  return window && !isOpen(window, app.wallClock()) ? 'window' : undefined
}
