import { goods, mayBeArchived } from '../../../catalog/goods-operations.ts'
import { endWait, mustWait, type WeakeningKind } from '../../../identity/weakenings/wait.ts'
import { nameOf } from '../../../kernel/api/actor.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import { page } from '../../../kernel/api/list.ts'
import { fields, operation, see } from '../../../kernel/api/operation.ts'
import { newId } from '../../../kernel/db/ids.ts'
import { bodyOf, changesOf } from '../../../kernel/fields/field-list.ts'
import { timeZoneFrom } from '../../../kernel/time-zones.ts'
import { count } from '../../../kernel/words.ts'
import { backupTarget } from '../../backup-target-records/model.ts'
import { planFields, planKeeps, planTimes } from './fields.ts'
import { type BackupPlan, backupPlan, backupPlanResponse, showBackupPlan } from './model.ts'
import { backupPlanById, backupPlanQueries, retimeServers } from './queries.ts'
import { keepWords } from './retention.ts'
import { mostWindowMinutes, type Times } from './times.ts'

const planGoods = goods({
  word: 'backup plan',
  path: '/admin/backup-plans',
  writers: ['packages:write'],
  queries: backupPlanQueries,
  response: backupPlanResponse,
  show({ tx, clock }) {
    const now = clock()
    return (plan) => showBackupPlan(tx, now, plan)
  },
})

const example = {
  name: 'Every night',
  targetId: '<backup_target_id>',
  every: 'day' as const,
  startsAt: '01:00',
  timeZone: 'Europe/Berlin',
  windowMinutes: 240,
  keepLast: 3,
  keepDaily: 7,
  keepWeekly: 4,
  keepMonthly: 6,
  billingProductId: 'whmcs:31',
}

/** The present name of the zone. Throws `validation_failed`, which names the field. */
function zoneOf({ every, timeZone: given, windowMinutes }: Times): string {
  const timeZone = timeZoneFrom(given)
  if (timeZone === undefined)
    throw invalid({ field: 'timeZone', message: 'must be a time zone such as Europe/Berlin.' })
  const most = mostWindowMinutes(every)
  if (windowMinutes > most)
    throw invalid({
      field: 'windowMinutes',
      message: `must be ${count(most, 'minute', 'minutes')} or less, so that it ends before the next one begins.`,
    })
  return timeZone
}

export const createBackupPlan = operation({
  ...planGoods.creates,
  id: 'backup-plans.create',
  summary: 'Add a backup plan that servers can be put on',
  past: 'Added a backup plan',
  body: fields(bodyOf(planFields)),
  example,
  run({ tx, actor, body, clock }) {
    const timeZone = zoneOf(body)
    const { id: targetId } = see(tx, actor, backupTarget, body.targetId, 'targetId')
    const now = clock()
    const row = { ...body, timeZone, id: newId('bpl'), targetId, createdAt: now }
    return showBackupPlan(tx, now, planGoods.insert(tx, row))
  },
})

export const changeBackupPlan = operation({
  ...planGoods.changes,
  id: 'backup-plans.update',
  summary:
    'Change a backup plan; its servers follow it from their next backup on. That it keeps less needs a person, and ' +
    'waits',
  requiresRecentAuth: Object.keys(planKeeps),
  powers: ['lifts_protection'],
  on: backupPlan,
  body: fields({ ...changesOf(planFields), ...mayBeArchived }),
  refuses: ['name_taken', 'token_not_allowed'],
  example: { keepDaily: 14 },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const wanted = unlessWeaker(call, target, body as Partial<BackupPlan>)
    const after = { ...target, ...wanted }
    const timeZone = zoneOf(after)
    const given = wanted.timeZone === undefined ? wanted : { ...wanted, timeZone }
    if (given.targetId !== undefined || given.archived === false)
      see(tx, actor, backupTarget, after.targetId, 'targetId')
    const changed = planGoods.update(tx, target, given)
    if (timing.some((name) => changed[name] !== target[name])) retimeServers(tx, target.id)
    return showBackupPlan(tx, clock(), changed)
  },
})

const keeping = Object.keys(planKeeps) as (keyof typeof planKeeps)[]
/** A plan that keeps less deletes backups of all its servers, so such a change waits. Answers the rest. */
function unlessWeaker(call: Parameters<typeof mustWait>[0], target: BackupPlan, given: Partial<BackupPlan>) {
  const { tx, actor, clock } = call
  const changed = keeping.filter((name) => given[name] !== undefined)
  if (!changed.length) return given
  const about = { kind: planWeakening.kind, name: target.id }
  const value = Object.fromEntries(changed.map((name) => [name, given[name]]))
  const isWeaker = changed.some((name) => given[name]! < target[name])
  const [title, from, to] = [`Backup plan ${target.name}`, keepWords(target), keepWords({ ...target, ...given })]
  if (isWeaker && mustWait(call, { ...about, title, value, from, to }))
    return Object.fromEntries(Object.entries(given).filter(([name]) => !(name in value)))
  endWait(tx, about, { decision: 'replaced', by: nameOf(actor), now: clock() })
  return given
}

export const planWeakening: WeakeningKind = {
  kind: 'backup_plan',
  apply(tx, { name, value }) {
    const target = backupPlanById(tx, name)
    if (target) backupPlanQueries.update(tx, target, value as Partial<BackupPlan>)
  },
}

const timing = Object.keys(planTimes) as (keyof typeof planTimes)[]

export const listBackupPlans = operation({
  ...planGoods.lists,
  id: 'backup-plans.list',
  summary: 'Backup plans by name, with their identifiers: what servers can be put on',
  access: { staff: ['servers:read', 'servers:resize', 'packages:write'] },
  response: page(backupPlanResponse),
  run: planGoods.list,
})
