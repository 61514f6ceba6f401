import type { NoticeDeclaration } from '../../identity/notices/notify.ts'
import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { advanceDrains } from './advance.ts'
import { announceMaintenance, previewNotice } from './announce.ts'
import { drainsInTrouble } from './attention.ts'
import { cancelDrain, leaveServer, pauseDrain, resumeDrain, retryServer, sendServer } from './control.ts'
import { evacuate } from './evacuate.ts'
import { draining } from './job.ts'
import { getDrain, listDrains } from './list.ts'
import { getMaintenance, mayBeOff } from './maintenance.ts'
import { finishedData, startedData } from './model.ts'
import { chooseInPlan, forgetChoices } from './plan/choose.ts'
import { beginDueDrains, scheduleDrain, unscheduleDrain } from './plan/later.ts'
import { exportPlan, planOfNode } from './plan/node-plan.ts'
import { drainTarget, dropChoices, dropDrainPlan } from './queries.ts'
import { returnPlan, returnToNode } from './return.ts'
import { advanceRollings } from './rolling/advance.ts'
import { rollingTarget } from './rolling/queries.ts'
import {
  cancelRolling,
  confirmRolling,
  getRolling,
  listRollings,
  resumeRolling,
  skipNode,
  startRolling,
} from './rolling/rolling.ts'
import { rollingDrains } from './rolling/tables.ts'
import { startDrain } from './start.ts'
import { drainChoices, drainPlans, drainServers, drains } from './tables.ts'

const errors = {
  rolling_maintenance_not_found: {
    status: 404,
    when: 'There is no such rolling maintenance.',
    remedy: 'Check the id.',
  },
  drain_not_found: { status: 404, when: 'There is no such drain.', remedy: 'Check the id.' },
  drain_at_work: {
    status: 409,
    when: 'The node is being emptied or filled already.',
    remedy: 'Wait until that has ended, or cancel it.',
  },
  drain_ended: { status: 409, when: 'The drain has ended.', remedy: 'Read its list of servers, or start another.' },
  drain_state: {
    status: 409,
    when: 'The drain is in another state than this action needs.',
    remedy: 'Read its state; the message says what it needs.',
  },
  node_is_away: {
    status: 409,
    when: 'The node is not connected.',
    remedy: 'Try again when its agent answers.',
  },
  node_is_lost: {
    status: 409,
    when: 'The node was declared lost.',
    remedy: 'Restore its servers elsewhere, or terminate them.',
  },
} as const
const ids = { drain: { prefix: 'drn' }, rollingMaintenance: { prefix: 'rol' } } as const
const scopes = { 'nodes:maintain': { words: 'Empty nodes for maintenance, and bring servers back' } } as const
const permissions = {
  'nodes.maintain': {
    words: 'Empty nodes for maintenance, with all that is on them',
    opens: ['nodes:maintain', 'nodes:read'],
  },
} as const
const events = {
  'node.drain_started': event('staff only', 'A node is being emptied, or its servers come back', startedData),
  'node.drain_finished': event('staff only', 'A node was emptied, or its servers are back', finishedData),
}
const notices = {
  server_stopped_for_maintenance: {
    when: 'a server is stopped for maintenance of its node',
    kinds: ['reseller', 'customer'],
    mail: 'always',
  },
  maintenance_planned: {
    when: 'maintenance is planned for the node of a server',
    kinds: ['reseller', 'customer'],
    mail: 'always',
  },
} as const satisfies Record<string, NoticeDeclaration>
declare module '../../kernel/register.ts' {
  interface Names {
    drains: {
      ids: typeof ids
      errors: typeof errors
      events: typeof events
      notices: typeof notices
      scopes: typeof scopes
      permissions: typeof permissions
    }
  }
}

const TURN_EVERY_MS = 2 * second

export const drainsFeature = feature({
  name: 'drains',
  ids,
  errors,
  events,
  notices,
  scopes,
  permissions,
  samples: { atOnce: 2 },
  tables: [drains, drainServers, drainPlans, drainChoices, rollingDrains],
  expectsAway: mayBeOff,
  forgetNode(tx, nodeId) {
    dropChoices(tx, nodeId)
    dropDrainPlan(tx, nodeId)
  },
  jobs: [draining],
  operations: [
    planOfNode,
    exportPlan,
    getMaintenance,
    chooseInPlan,
    forgetChoices,
    scheduleDrain,
    unscheduleDrain,
    startDrain,
    listDrains,
    getDrain,
    pauseDrain,
    resumeDrain,
    retryServer,
    sendServer,
    leaveServer,
    cancelDrain,
    evacuate,
    returnPlan,
    returnToNode,
    previewNotice,
    announceMaintenance,
    startRolling,
    listRollings,
    getRolling,
    confirmRolling,
    resumeRolling,
    skipNode,
    cancelRolling,
  ],
  auditTargets: [drainTarget, rollingTarget],
  attention: [drainsInTrouble],
  schedule: [
    {
      everyMs: TURN_EVERY_MS,
      words: 'moving the servers of a drain',
      work: ({ db, app }) => {
        beginDueDrains(db, app)
        advanceDrains(db, app)
        advanceRollings(db, app)
      },
    },
  ],
})
