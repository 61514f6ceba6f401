// The backups of a server, day by day.
import { Type as t } from 'typebox'
import { monthAfter, monthParameter } from '../../../billing/usage/period.ts'
import { described, namedSchema, nullable, operation } from '../../../kernel/api/operation.ts'
import { endedServer } from '../../server-records/model.ts'
import { reading } from '../model.ts'
import { backupsOf } from '../queries.ts'
import { localDates } from './days.ts'
import { backupPlanById, serverBackupPlan } from './queries.ts'

const backupDay = namedSchema('BackupDay', {
  date: described(t.String(), 'Like 2026-11-23.'),
  ready: t.Integer(),
  failed: t.Integer(),
  running: described(t.Integer(), 'Being made or deleted.'),
})

export const getBackupCalendar = operation({
  id: 'backups.calendar',
  method: 'GET',
  path: '/servers/{id}/backups/calendar',
  summary: 'The days of a month on which backups of a server began, in the time zone of its plan',
  access: reading,
  on: endedServer,
  query: {
    month: { ...monthParameter, description: 'Like 2026-11. Without it: this month.' },
  },
  response: namedSchema('BackupCalendar', {
    month: t.String(),
    timeZone: described(t.String(), 'Of its plan; UTC without one.'),
    today: t.String(),
    nextDate: described(nullable(t.String()), 'The day of its next backup by plan.'),
    days: described(t.Array(backupDay), 'Days without a backup are left out.'),
  }),
  run({ tx, target, query, clock }) {
    const row = serverBackupPlan(tx, target.id)
    const timeZone = (row && backupPlanById(tx, row.planId)?.timeZone) ?? 'UTC'
    const dateOf = localDates(timeZone)
    const today = dateOf(clock())
    const month = query['month'] ?? today.slice(0, 7)
    const inMonth = backupsOf(tx, target)
      .map((backup) => ({ ...backup, date: dateOf(backup.startedAt) }))
      .filter(({ date }) => date.startsWith(month))
    const days = [...Map.groupBy(inMonth, ({ date }) => date)].map(([date, backups]) => {
      const count = (...states: string[]) => backups.filter(({ state }) => states.includes(state)).length
      return { date, ready: count('ready'), failed: count('failed'), running: count('running', 'deleting') }
    })
    const isOn = target.status !== 'suspended' && target.status !== 'terminated'
    const nextDate = isOn && row?.dueAt ? dateOf(row.dueAt) : null
    return { month, timeZone, today, nextDate, days: days.reverse() }
  },
})

/** The dates of a month as weeks from Monday on; null before its first day and behind its last. */
export function weeksOf(month: string): (string | null)[][] {
  const first = Date.parse(`${month}-01T00:00:00Z`)
  const length = Math.round((Date.parse(`${monthAfter(month, 1)}-01T00:00:00Z`) - first) / 86_400_000)
  const before = (new Date(first).getUTCDay() + 6) % 7
  const dates = Array.from({ length }, (_, i) => `${month}-${String(i + 1).padStart(2, '0')}`)
  const cells = [...Array<null>(before).fill(null), ...dates]
  const rows = Array.from({ length: Math.ceil(cells.length / 7) }, (_, i) => cells.slice(i * 7, i * 7 + 7))
  return rows.map((row) => [...row, ...Array<null>(7 - row.length).fill(null)])
}
