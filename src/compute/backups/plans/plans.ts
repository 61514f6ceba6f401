import { Type as t } from 'typebox'
import { endWait, mustWait, type WeakeningKind } from '../../../identity/weakenings/wait.ts'
import { nameOf } from '../../../kernel/api/actor.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import { page, paginate } from '../../../kernel/api/list.ts'
import { named } from '../../../kernel/api/named.ts'
import { described, fields, line, nullable, operation, see } from '../../../kernel/api/operation.ts'
import { newId } from '../../../kernel/db/ids.ts'
import { timeZoneFrom } from '../../../kernel/time-zones.ts'
import { count } from '../../../kernel/words.ts'
import { backupTarget } from '../../backup-targets/model.ts'
import { type BackupPlan, backupPlan, backupPlanAnswer, showBackupPlan } from './model.ts'
import {
  backupPlanById,
  backupPlansByName,
  countBackupPlans,
  insertBackupPlan,
  retimeServers,
  updateBackupPlan,
} from './queries.ts'
import { keepWords } from './retention.ts'
import { frequencies, mostWindowMinutes, type Times } from './times.ts'

const properties = {
  name: line(60),
  targetId: t.String({ minLength: 1, maxLength: 60 }),
  every: t.Enum([...frequencies]),
  startsAt: t.String({ maxLength: 5, pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', title: 'a time such as 02:30' }),
  timeZone: described(t.String({ minLength: 1, maxLength: 64 }), 'A name such as Europe/Berlin.'),
  windowMinutes: t.Integer({ minimum: 0, maximum: 1380 }),
  keepLast: t.Integer({ minimum: 1, maximum: 1000 }),
  keepDaily: t.Optional(t.Integer({ minimum: 0, maximum: 1000 })),
  keepWeekly: t.Optional(t.Integer({ minimum: 0, maximum: 500 })),
  keepMonthly: t.Optional(t.Integer({ minimum: 0, maximum: 120 })),
  billingProductId: t.Optional(nullable(line(100, 0))),
}
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
  id: 'backup-plans.create',
  method: 'POST',
  path: '/admin/backup-plans',
  summary: 'Add a backup plan that servers can be put on',
  access: { staff: ['packages:write'] },
  body: fields(properties),
  response: backupPlanAnswer,
  status: 201,
  refuses: ['name_taken'],
  example,
  run({ tx, actor, body, clock }) {
    const timeZone = zoneOf(body)
    const { id: targetId } = see(tx, actor, backupTarget, body.targetId, 'targetId')
    const now = clock()
    const none = { keepDaily: 0, keepWeekly: 0, keepMonthly: 0 }
    const made = named('backup plan', () =>
      insertBackupPlan(tx, { ...none, ...body, timeZone, id: newId('bpl'), targetId, createdAt: now }),
    )
    return showBackupPlan(tx, now, made)
  },
})

export const changeBackupPlan = operation({
  id: 'backup-plans.update',
  method: 'PATCH',
  path: '/admin/backup-plans/{id}',
  summary:
    'Change a backup plan; its servers follow it from their next backup on. That it keeps less needs a person, and ' +
    'waits',
  access: { staff: ['packages:write'] },
  requiresRecentAuth: ['keepLast', 'keepDaily', 'keepWeekly', 'keepMonthly'],
  powers: ['lifts_protection'],
  on: backupPlan,
  body: fields({
    ...(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, t.Optional(schema)])) as {
      [K in keyof typeof properties]: ReturnType<typeof t.Optional<(typeof properties)[K]>>
    }),
    archived: t.Optional(t.Boolean()),
  }),
  response: backupPlanAnswer,
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
    const changed = named('backup plan', () => updateBackupPlan(tx, target, given))
    if (timing.some((name) => changed[name] !== target[name])) retimeServers(tx, target.id)
    return showBackupPlan(tx, clock(), changed)
  },
})

const keeping = ['keepLast', 'keepDaily', 'keepWeekly', 'keepMonthly'] as const
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
    if (target) updateBackupPlan(tx, target, value as Partial<BackupPlan>)
  },
}

const timing = ['every', 'startsAt', 'timeZone', 'windowMinutes'] as const

export const listBackupPlans = operation({
  id: 'backup-plans.list',
  method: 'GET',
  path: '/admin/backup-plans',
  summary: 'Backup plans by name, with their identifiers: what servers can be put on',
  access: { staff: ['servers:read', 'servers:resize', 'packages:write'] },
  pages: { usual: 100, most: 200 },
  response: page(backupPlanAnswer),
  run(call) {
    const { tx, clock } = call
    const now = clock()
    return paginate({
      call,
      name: 'backup plans',
      rows: (slice) => backupPlansByName(tx, slice),
      keyOf: (plan) => plan.name,
      show: (plan) => showBackupPlan(tx, now, plan),
      total: () => countBackupPlans(tx),
    })
  },
})
