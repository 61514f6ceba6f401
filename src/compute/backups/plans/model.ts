// A backup plan: when, where to, and how long backups of servers are kept. Staff define it, and a billing system puts
// servers on it.
import { type Static, Type as t } from 'typebox'
import { described, namedSchema, nullable, type Resource, time } from '../../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { responseOf, valuesOf } from '../../../kernel/fields/field-list.ts'
import { backupTargetById } from '../../backup-target-records/queries.ts'
import { planFields, planKeeps, planTimes } from './fields.ts'
import { backupPlanById, serversOnBackupPlan } from './queries.ts'
import type { BackupPlan } from './tables.ts'
import { windowAfter } from './times.ts'

export type { BackupPlan }

export const backupPlan: Resource<BackupPlan> = {
  name: 'backup plan',
  notFound: 'backup_plan_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? backupPlanById(tx, id) : undefined),
}

const times = responseOf(planTimes)
const keeps = responseOf(planKeeps)

export const backupPlanResponse = namedSchema('BackupPlan', {
  id: t.String(),
  name: t.String(),
  target: described(
    namedSchema('TargetOfBackupPlan', { id: t.String(), name: t.String() }),
    'Where its backups are stored; without a name when it was removed.',
  ),
  ...times,
  nextAt: described(time, 'When its next window begins.'),
  ...keeps,
  billingProductId: planFields.billingProductId.response,
  archived: described(t.Boolean(), 'No further server can be put on it; those that are stay.'),
  servers: t.Integer(),
  provenAt: described(nullable(time), 'When one of its backups was last proven by a restore drill.'),
})

export const showBackupPlan = (tx: Db, now: number, plan: BackupPlan): Static<typeof backupPlanResponse> => ({
  id: plan.id,
  name: plan.name,
  target: { id: plan.targetId, name: backupTargetById(tx, plan.targetId)?.name ?? '' },
  ...valuesOf(planTimes, plan),
  nextAt: iso(windowAfter(plan, now)),
  ...valuesOf(planKeeps, plan),
  billingProductId: plan.billingProductId,
  archived: plan.archived,
  servers: serversOnBackupPlan(tx, plan.id),
  provenAt: isoOrNull(plan.provenAt),
})

/** A plan as everybody sees it who sees a server that is on it. */
export const planOfServer = namedSchema('BackupPlanOfServer', {
  id: t.String(),
  name: t.String(),
  ...times,
  ...keeps,
  billingProductId: described(nullable(t.String()), 'For staff; null for others.'),
})
export const showPlanOfServer = (plan: BackupPlan, isStaff: boolean): Static<typeof planOfServer> => ({
  id: plan.id,
  name: plan.name,
  ...valuesOf(planTimes, plan),
  ...valuesOf(planKeeps, plan),
  billingProductId: isStaff ? plan.billingProductId : null,
})
