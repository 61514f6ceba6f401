// A backup plan: when, where to, and how long backups of servers are kept. Staff define it, and a billing system puts
// servers on it.
import { type Static, Type as t } from 'typebox'
import { described, namedSchema, nullable, type Resource, time } from '../../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { backupTargetById } from '../../backup-targets/queries.ts'
import { backupPlanById, serversOnBackupPlan } from './queries.ts'
import type { BackupPlan } from './tables.ts'
import { frequencies, windowAfter } from './times.ts'

export type { BackupPlan }

export const backupPlan: Resource<BackupPlan> = {
  name: 'backup plan',
  notFound: 'backup_plan_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? backupPlanById(tx, id) : undefined),
}

const times = {
  every: t.Enum([...frequencies]),
  startsAt: described(t.String(), 'A local time of the time zone, as 02:30.'),
  timeZone: t.String(),
  windowMinutes: described(t.Integer(), 'Servers begin spread over so many minutes, each always at its own moment.'),
}
const keeps = {
  keepLast: described(t.Integer(), 'So many of the newest backups of a server are kept.'),
  keepDaily: described(t.Integer(), 'Beside them the newest of each of so many days that have one.'),
  keepWeekly: described(t.Integer(), 'The same of weeks, from Monday on.'),
  keepMonthly: described(t.Integer(), 'The same of months.'),
}

export const backupPlanAnswer = namedSchema('BackupPlan', {
  id: t.String(),
  name: t.String(),
  target: described(
    namedSchema('TargetOfBackupPlan', { id: t.String(), name: t.String() }),
    'Where its backups are stored; without a name when it was removed.',
  ),
  ...times,
  nextAt: described(time, 'When its next window begins.'),
  ...keeps,
  billingProductId: described(nullable(t.String()), 'Free text, such as vendor:number.'),
  archived: described(t.Boolean(), 'No further server can be put on it; those that are stay.'),
  servers: t.Integer(),
  provenAt: described(nullable(time), 'When one of its backups was last proven by a restore drill.'),
})

const timesOf = ({ every, startsAt, timeZone, windowMinutes }: BackupPlan) => ({
  every,
  startsAt,
  timeZone,
  windowMinutes,
})
const keepsOf = ({ keepLast, keepDaily, keepWeekly, keepMonthly }: BackupPlan) => ({
  keepLast,
  keepDaily,
  keepWeekly,
  keepMonthly,
})

export const showBackupPlan = (tx: Db, now: number, plan: BackupPlan): Static<typeof backupPlanAnswer> => ({
  id: plan.id,
  name: plan.name,
  target: { id: plan.targetId, name: backupTargetById(tx, plan.targetId)?.name ?? '' },
  ...timesOf(plan),
  nextAt: iso(windowAfter(plan, now)),
  ...keepsOf(plan),
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
  ...timesOf(plan),
  ...keepsOf(plan),
  billingProductId: isStaff ? plan.billingProductId : null,
})
