import { firstWorkloadAt } from '../../fleet/workloads/queries.ts'
import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { day, iso, minuteText } from '../../kernel/db/clock.ts'
import { planOf, resultsOf, TOO_OLD_MS } from './model.ts'
import { getControllerBackups } from './plan.ts'

/** So long after the first server an installation is no trial any more. */
const TRIAL_MS = day

/** Neither backups nor a replica: with its disk the controller would lose everything. */
export const noCopyAtAll: Source = ({ tx, actor, clock, config }) => {
  if (!mayCall(getControllerBackups, actor) || config.replica || planOf(tx).targets.length) return []
  const firstAt = firstWorkloadAt(tx)
  if (firstAt === undefined || clock() - firstAt < TRIAL_MS) return []
  return [
    {
      level: 'warn',
      what: 'The controller has neither backups nor a replica.',
      effect: 'If its disk is lost, so are all accounts, servers’ records and keys of backups. Choose a target for it.',
      since: null,
      action: 'Open controller host',
      href: '/admin/controller',
    },
  ]
}

/** Targets whose last backup failed, or whose last good one is too old. */
export const badControllerBackups: Source = ({ tx, actor, wallClock }) => {
  if (!mayCall(getControllerBackups, actor)) return []
  const { targets, since } = planOf(tx)
  const results = resultsOf(tx)
  const now = wallClock()
  return targets.flatMap((id) => {
    const { goodAt = null, error = null, at = null } = results[id] ?? {}
    const isOld = now - (goodAt ?? since) > TOO_OLD_MS
    if (!error && !isOld) return []
    return [
      {
        level: isOld ? ('bad' as const) : ('warn' as const),
        what: goodAt
          ? `The last good backup of the controller is of ${minuteText(goodAt)}.`
          : 'The controller has no backup in one of its targets.',
        effect: `${error ?? 'None was made since.'} It is tried again each hour.`,
        since: at === null ? null : iso(at),
        action: 'Open controller host',
        href: '/admin/controller',
      },
    ]
  })
}
