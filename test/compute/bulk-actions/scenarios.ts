// An action for many in the crash matrix: its job records the end, whatever is cut off and whatever fails.
import { advanceBulkActions } from '../../../src/compute/bulk-actions/advance.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { order } from '../../support/crash-matrix/servers.ts'
import { resultsOf } from './world.ts'

export const scenarios: readonly Scenario[] = [
  {
    name: 'an action for many servers',
    kind: 'bulk_action',
    before: order,
    async start(p, serverId) {
      const { jobId } = await p.admin('POST', '/admin/servers/actions/power', { filter: {}, action: 'off' })
      advanceBulkActions(p.db, p.controller.app)
      await p.settle()
      // The job of its server has ended: the next turn releases that of the action.
      advanceBulkActions(p.db, p.controller.app)
      return { jobId, serverId }
    },
    async measure(p, serverId) {
      const [{ id, state }] = (await p.admin('GET', '/admin/bulk-actions')).data
      return { state, results: await resultsOf(p, id), status: (await p.admin('GET', `/servers/${serverId}`)).status }
    },
    succeeds: { state: 'done', results: { web01: 'done' }, status: 'stopped' },
  },
]
