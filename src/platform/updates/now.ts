// The update that is asked for or under way.
import { isUnderWay } from '../../../agent/protocol/release/upgrade.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { iso, minute } from '../../kernel/db/clock.ts'
import { VERSION } from '../../kernel/version.ts'
import { requestOf } from './queries.ts'

/** The first two are those of a request; the rest is the journal's, while it is under way. */
export const upgradeStates = ['waiting', 'checking', 'switching', 'trying', 'going_back'] as const
export type UpgradeState = (typeof upgradeStates)[number]
export type UpgradeNow = { state: UpgradeState; from: string; to: string; by: string; since: string }

/** Root has verified a release, and begun or refused, within this time after it took the request. */
const TAKEN_MS = 5 * minute

/**
 * The journal of root comes first. A request that root took without a word is forgotten after a while, so that it never
 * stands in the way of the next.
 */
export function upgradeNow({ tx, updates, wallClock }: Pick<ReadContext, 'tx' | 'updates' | 'wallClock'>) {
  const { machine } = updates
  const journal = machine.journal()
  if (journal && isUnderWay(journal)) {
    const { state, from, to, by, startedAt: since } = journal
    return { state: state as UpgradeState, from, to, by, since } satisfies UpgradeNow
  }
  const request = requestOf(tx)
  if (!request) return undefined
  const { version: to, by, at, handedAt } = request
  const asked = (state: UpgradeState): UpgradeNow => ({ state, from: VERSION, to, by, since: iso(at) })
  if (handedAt === null || machine.requestedAt() !== undefined) return asked('waiting')
  const hasEnded =
    (journal && Date.parse(journal.startedAt) >= at) ||
    machine.history().some(({ endedAt }) => Date.parse(endedAt) >= at)
  return hasEnded || wallClock() - handedAt > TAKEN_MS ? undefined : asked('checking')
}
