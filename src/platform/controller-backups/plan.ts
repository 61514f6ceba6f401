import { Type as t } from 'typebox'
import { backupTarget } from '../../compute/backup-target-records/model.ts'
import { backupTargetById } from '../../compute/backup-target-records/queries.ts'
import { endWait, mustWait, type WeakeningKind } from '../../identity/weakenings/wait.ts'
import { nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, done, fields, namedSchema, nullable, operation, see, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count, list } from '../../kernel/words.ts'
import { keepPlan, type Plan, planOf, resultsOf } from './model.ts'

const access = { staff: ['settings:write'] } as const

const hourOfDay = t.Integer({ minimum: 0, maximum: 23 })
const keepDays = t.Integer({ minimum: 1, maximum: 3650 })

function show(tx: Db) {
  const { targets, hour, keepDays: days } = planOf(tx)
  const results = resultsOf(tx)
  return {
    hour,
    keepDays: days,
    targets: targets.map((id) => {
      const { at = null, error = null, goodAt = null, bytes = 0, seconds = 0 } = results[id] ?? {}
      const target = backupTarget.find(tx, { kind: 'staff' } as never, id)
      return {
        ...{ id, name: target?.name ?? 'A target that was removed', address: target?.address ?? '' },
        ...{ lastAt: isoOrNull(at), lastGoodAt: isoOrNull(goodAt), error, bytes, seconds },
      }
    }),
  }
}

export const getControllerBackups = operation({
  id: 'controller-backups.get',
  method: 'GET',
  path: '/admin/controller-backups',
  summary: 'Backups of the database of the controller: when and where, and the last of each target',
  access,
  response: namedSchema('ControllerBackups', {
    hour: described(hourOfDay, 'Of each day, in UTC.'),
    keepDays,
    targets: t.Array(
      t.Object({
        id: t.String(),
        name: t.String(),
        address: t.String(),
        lastAt: nullable(time),
        lastGoodAt: nullable(time),
        error: described(nullable(t.String()), 'Of the last; null when it succeeded.'),
        bytes: t.Integer(),
        seconds: t.Number(),
      }),
    ),
  }),
  run: ({ tx }) => show(tx),
})

const inWords = (tx: Db, { targets, keepDays: days }: Plan): string =>
  targets.length
    ? `in ${list(targets.map((id) => backupTargetById(tx, id)?.name ?? 'a target that was removed'))}, ` +
      `kept for ${count(days, 'day', 'days')}`
    : 'none'

/** Fewer targets or days, or no backups at all. */
export const controllerWeakening: WeakeningKind = {
  kind: 'controller_backups',
  apply: (tx, { value }) => keepPlan(tx, { ...(value as Plan), requestedAt: planOf(tx).requestedAt }),
}

export const configureControllerBackups = operation({
  id: 'controller-backups.configure',
  method: 'PUT',
  path: '/admin/controller-backups',
  summary:
    'Back up the database of the controller each day into these targets; without any there are no backups. Fewer ' +
    'targets or days need a person, and wait',
  past: 'Changed the backups of the controller',
  access,
  powers: ['moves_secrets'],
  requiresRecentAuth: true,
  body: fields({
    targetIds: t.Array(t.String({ minLength: 1, maxLength: 60 }), { maxItems: 10 }),
    hour: hourOfDay,
    keepDays,
  }),
  response: done,
  refuses: ['token_not_allowed'],
  example: { targetIds: [], hour: 3, keepDays: 30 },
  auditSnapshot: ({ tx }) => {
    const { targets, hour, keepDays: days } = planOf(tx)
    return { targets, hour, keepDays: days }
  },
  run(call) {
    const { tx, actor, body, clock, wallClock } = call
    for (const id of body.targetIds) {
      const target = see(tx, actor, backupTarget, id, 'targetIds')
      if (target.kind === 'rest')
        throw invalid({ field: 'targetIds', message: 'must be folders, SFTP or S3: a REST server takes servers only.' })
    }
    const now = wallClock()
    const before = planOf(tx)
    const targets = [...new Set(body.targetIds)]
    const after: Plan = { ...before, targets, hour: body.hour, keepDays: body.keepDays, since: now }
    const about = { kind: controllerWeakening.kind, name: 'plan' }
    const isWeaker = after.keepDays < before.keepDays || before.targets.some((id) => !targets.includes(id))
    const [title, from, to] = ["Backups of the controller's database", inWords(tx, before), inWords(tx, after)]
    if (before.targets.length && isWeaker && mustWait(call, { ...about, title, value: after, from, to })) return {}
    endWait(tx, about, { decision: 'replaced', by: nameOf(actor), now: clock() })
    keepPlan(tx, after)
    return {}
  },
})

export const makeControllerBackup = operation({
  id: 'controller-backups.make',
  method: 'POST',
  path: '/admin/controller-backups/actions/make',
  summary: 'Back up the database of the controller now, into every target of the plan; it begins within seconds',
  past: 'Started a backup of the controller',
  access,
  response: done,
  refuses: ['no_backup_plan'],
  run({ tx, wallClock }) {
    const plan = planOf(tx)
    if (!plan.targets.length) throw new ApiError('no_backup_plan', 'Choose a target for backups first.')
    keepPlan(tx, { ...plan, requestedAt: wallClock() })
    return {}
  },
})
