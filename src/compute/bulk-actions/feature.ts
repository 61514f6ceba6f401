import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { advanceBulkActions } from './advance.ts'
import { cancelBulkAction, getBulkAction, listBulkActions, listBulkWorkloads } from './control.ts'
import { bulkActing } from './job.ts'
import { planInstances, planServers } from './plan.ts'
import { bulkActionTarget, expiringBulkActions } from './queries.ts'
import { bulkOperations } from './start.ts'
import { bulkActions, bulkActionWorkloads } from './tables.ts'

const errors = {
  bulk_action_not_found: { status: 404, when: 'There is no such action for many.', remedy: 'Check the id.' },
  bulk_action_ended: {
    status: 409,
    when: 'The action for many has ended, or is being cancelled.',
    remedy: 'Read what became of each server.',
  },
  selection_changed: {
    status: 409,
    when: 'Another number of servers fits the filter than `expected` says.',
    remedy: 'Look at the list again, then repeat the call with the number of now.',
  },
  selection_too_large: {
    status: 409,
    when: 'More servers fit the filter than one call takes.',
    remedy: 'Narrow the filter, such as to a location or a node, and call once for each.',
  },
} as const
const ids = { bulkAction: { prefix: 'blk' } } as const
declare module '../../kernel/register.ts' {
  interface Names {
    'bulk-actions': { ids: typeof ids; errors: typeof errors }
  }
}

const TURN_EVERY_MS = second

/** Actions for many servers or GPU instances: a plan, one record, and what became of each. */
export const bulkActionsFeature = feature({
  name: 'bulk-actions',
  ids,
  errors,
  tables: [bulkActions, bulkActionWorkloads],
  expiring: [expiringBulkActions],
  jobs: [bulkActing],
  operations: [
    ...bulkOperations,
    planServers,
    planInstances,
    listBulkActions,
    getBulkAction,
    listBulkWorkloads,
    cancelBulkAction,
  ],
  auditTargets: [bulkActionTarget],
  fixture: async ({ admin }) => ({
    'bulk action': (await admin('POST', '/admin/servers/actions/label', { filter: {}, add: ['batch'] })).id,
  }),
  schedule: [
    {
      everyMs: TURN_EVERY_MS,
      words: 'going on with an action for many servers',
      work: ({ db, app }) => advanceBulkActions(db, app),
    },
  ],
})
