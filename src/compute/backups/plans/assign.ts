// The plan of one server: an add-on that billing sells.
import { type Static, Type as t } from 'typebox'
import type { Actor } from '../../../kernel/api/actor.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, see, time } from '../../../kernel/api/operation.ts'
import { day, isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { settingValue, wholeSetting } from '../../../kernel/setting.ts'
import { endedServer, type Server, server } from '../../server-records/model.ts'
import { backupPlan, planOfServer, showPlanOfServer } from './model.ts'
import {
  backupPlanById,
  endPlannedBackups,
  keepPlannedBackups,
  putServerBackupPlan,
  removeServerBackupPlan,
  serverBackupPlan,
} from './queries.ts'
import { planActions } from './states.ts'
import { dueAfter } from './times.ts'

export const keptWithoutPlan = wholeSetting({
  name: 'backups.kept_without_plan_days',
  title: 'Backups of a plan that ended',
  words: 'How long the backups of a server stay after it was taken off its backup plan. They are deleted then.',
  weakens: 'lower',
  default: 7,
  minimum: 0,
  maximum: 3650,
  unit: 'days',
})

const chosenPlan = {
  serverId: t.String(),
  plan: described(nullable(planOfServer), 'Null: no backups are made of it by themselves.'),
  nextAt: described(
    nullable(time),
    'When its next backup begins; null without a plan, and while it is suspended or terminated.',
  ),
}
const shown = namedSchema('ServerBackupPlan', chosenPlan)

function show(tx: Db, actor: Actor, target: Server, now: number): Static<typeof shown> {
  const row = serverBackupPlan(tx, target.id)
  const plan = row && backupPlanById(tx, row.planId)
  if (!row || !plan) return { serverId: target.id, plan: null, nextAt: null }
  const dueAt = row.dueAt ?? dueAfter(plan, target.id, now)
  return {
    serverId: target.id,
    plan: showPlanOfServer(plan, actor.kind === 'staff'),
    nextAt: isoOrNull(target.status === 'suspended' || target.status === 'terminated' ? null : dueAt),
  }
}

export const getServerBackupPlan = operation({
  id: 'backups.plan',
  method: 'GET',
  path: '/servers/{id}/backups/plan',
  summary: 'The backup plan of a server, and when its next backup begins',
  access: { staff: ['servers:read'], reseller: ['servers:read'], customer: ['servers:read'] },
  on: endedServer,
  response: shown,
  run: ({ tx, actor, target, clock }) => show(tx, actor, target, clock()),
})

export const setServerBackupPlan = operation({
  id: 'backups.set-plan',
  method: 'PUT',
  path: '/servers/{id}/backups/plan',
  summary: 'Put a server on a backup plan; null takes it off, and its backups of the plan are kept for a while',
  past: 'Changed the backup plan',
  access: { staff: ['servers:resize'] },
  on: server,
  body: fields({ planId: nullable(t.String({ minLength: 1, maxLength: 60 })) }),
  response: namedSchema('ServerBackupPlanSet', {
    jobId: described(t.Null(), 'No node has to work for it.'),
    ...chosenPlan,
  }),
  idempotent: true,
  refuses: [...planActions.refusalsOf('backup_plan')],
  example: { planId: '<backup_plan_id>' },
  auditSnapshot: ({ tx, target }) => {
    const planId = serverBackupPlan(tx, target.id)?.planId
    return { backupPlan: planId ? (backupPlanById(tx, planId)?.name ?? planId) : null }
  },
  run({ tx, actor, target, body: { planId }, clock }) {
    const chosen = planId === null ? undefined : see(tx, actor, backupPlan, planId, 'planId')
    const before = serverBackupPlan(tx, target.id)
    if (chosen?.archived && before?.planId !== chosen.id)
      throw invalid({ field: 'planId', message: 'is archived. Choose another backup plan.' })
    planActions.mustAllowFor(tx, actor, target, 'backup_plan')
    const now = clock()
    if (!chosen && before) {
      removeServerBackupPlan(tx, target.id)
      endPlannedBackups(tx, target, now + settingValue(tx, keptWithoutPlan) * day)
    }
    if (chosen && before?.planId !== chosen.id) {
      const dueAt = dueAfter(chosen, target.id, now)
      putServerBackupPlan(tx, { serverId: target.id, planId: chosen.id, assignedAt: now, dueAt })
      if (!before) keepPlannedBackups(tx, target)
    }
    return { jobId: null, ...show(tx, actor, target, now) }
  },
})
