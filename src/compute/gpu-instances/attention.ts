import { CRASHES_SHOWN_MS, crashWords } from '../../fleet/workloads/crashes.ts'
import { crashedRows } from '../../fleet/workloads/queries.ts'
import { areas } from '../../identity/accounts/areas.ts'
import { visible } from '../../identity/team/access.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { gpuInstanceKind, load, pageOf } from './model.ts'
import { failedInstanceRows } from './queries.ts'

export const failedInstances: Source = ({ tx, actor }) =>
  failedInstanceRows(tx, visible(tx, actor), MOST_SHOWN).map(({ id, name, failure }) => ({
    level: 'bad',
    what: `The GPU instance ${name} has failed.`,
    effect: `${failure ?? 'It does not run.'} It is billed until it is deleted.`,
    since: null,
    action: 'Open GPU instance',
    href: pageOf(areas[actor.kind], id),
  }))

/** Instances that ended by themselves and stay off, or did so again within a day. */
export const crashedInstances: Source = ({ tx, actor, clock }) => {
  const since = clock() - CRASHES_SHOWN_MS
  return crashedRows(tx, gpuInstanceKind, visible(tx, actor), since, MOST_SHOWN).map(
    ({ id, n, at, cause, outcome }) => {
      const { name, endDetail } = load(tx, id)
      const why = endDetail ?? crashWords[cause]
      return {
        level: outcome === 'left_off' ? 'bad' : 'warn',
        what: `The GPU instance ${name} ended by itself${n === 1 ? '' : ` ${n} times in 24 hours`}.`,
        effect: outcome === 'left_off' ? `${why} It stays off until it is started.` : `${why} It was started again.`,
        since: iso(at),
        action: 'Open GPU instance',
        href: pageOf(areas[actor.kind], id),
      }
    },
  )
}
