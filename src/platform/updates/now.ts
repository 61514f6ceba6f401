// The update that is asked for or under way.
import type { ReadContext } from '../../kernel/api/operation.ts'
import { iso, minute } from '../../kernel/db/clock.ts'
import { VERSION } from '../../kernel/version.ts'
import { openStates } from './machine.ts'
import { requestOf } from './queries.ts'

export const upgradeStates = ['waiting', 'checking', ...openStates] as const
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
  const current = machine.current()
  if (current) {
    const { startedAt: since, ...rest } = current
    return { ...rest, since } satisfies UpgradeNow
  }
  const request = requestOf(tx)
  if (!request) return undefined
  const { version: to, by, at, handedAt } = request
  const asked = (state: UpgradeState): UpgradeNow => ({ state, from: VERSION, to, by, since: iso(at) })
  if (handedAt === null || machine.requestedAt() !== undefined) return asked('waiting')
  const hasEnded = machine.history().some(({ endedAt }) => Date.parse(endedAt) >= at)
  return hasEnded || wallClock() - handedAt > TAKEN_MS ? undefined : asked('checking')
}
