// Workloads of a kind that need attention: those that failed, and those that ended by themselves.
import { CRASHES_SHOWN_MS, crashWords } from '../../fleet/workloads/crashes.ts'
import type { WorkloadKind } from '../../fleet/workloads/kind.ts'
import { type CrashedRow, crashedRows, type FailedRow, failedRows } from '../../fleet/workloads/queries.ts'
import { type Area, areas } from '../../identity/account-records/areas.ts'
import { visible } from '../../identity/team/access.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'

type Own = {
  /** The words of the button that opens one. */
  action: string
  pageOf(area: Area, id: string): `/${string}`
  /** One that failed, in a sentence, and what follows of it. */
  failed(row: FailedRow): { what: string; effect: string }
  crashed: {
    /** One that ended, without the full stop. */
    what(row: CrashedRow): string
    /** Why, in sentences; left out: the words for its cause, with the details for staff. */
    why?(call: ReadContext, row: CrashedRow): string | null
    /** Its node started it again. */
    restarted: string
  }
}

/** Failed ones, newest first; ones that ended by themselves and stay off, or did so again within a day. */
export const attentionOf = (kind: WorkloadKind, { action, pageOf, failed, crashed }: Own) => ({
  failed: (({ tx, actor }) =>
    failedRows(tx, kind, visible(tx, actor), MOST_SHOWN).map((row) => ({
      level: 'bad',
      ...failed(row),
      since: null,
      action,
      href: pageOf(areas[actor.kind], row.id),
    }))) satisfies Source,
  crashed: ((call) => {
    const { tx, actor, clock } = call
    return crashedRows(tx, kind, visible(tx, actor), clock() - CRASHES_SHOWN_MS, MOST_SHOWN).map((row) => {
      const { n, cause, detail, outcome } = row
      const why = crashed.why?.(call, row) ?? crashWords[cause] + (detail && isStaff(call) ? ` (${detail})` : '')
      const isOff = outcome === 'left_off'
      return {
        level: isOff ? 'bad' : 'warn',
        what: `${crashed.what(row)}${n === 1 ? '' : ` ${n} times in 24 hours`}.`,
        effect: `${why} ${isOff ? 'It stays off until it is started.' : crashed.restarted}`,
        since: iso(row.at),
        action,
        href: pageOf(areas[actor.kind], row.id),
      }
    })
  }) satisfies Source,
})

const isStaff = ({ actor }: ReadContext) => actor.kind === 'staff'
