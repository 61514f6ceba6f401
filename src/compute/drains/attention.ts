import { mayCall } from '../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { hour, iso } from '../../kernel/db/clock.ts'
import { count } from '../../kernel/words.ts'
import { listDrains } from './list.ts'
import { named } from './model.ts'
import { countsOf, type Drain, drainsInMaintenance, failedDrainPlans, openDrains } from './queries.ts'
import { openRollings } from './rolling/queries.ts'

/** A node may be in maintenance for so long before it is worth a word. */
const LONG_MS = 24 * hour

/** Drains that wait for a person, servers that could not move, and nodes that are in maintenance for long. */
export const drainsInTrouble: Source = ({ tx, actor, clock }) => {
  if (!mayCall(listDrains, actor)) return []
  const at = ({ id }: Drain) => ({ action: 'Open drain', href: `/admin/drains/${id}` })
  const paused = openDrains(tx)
    .filter(({ pausedBy }) => pausedBy === 'failure')
    .map((row): Attention => {
      const { name } = named(tx, row.nodeId)
      return {
        ...at(row),
        level: 'bad',
        what: `The drain of ${name} is paused: a server could not move.`,
        effect: 'No further server moves. Look at the reason, then try it again or go on with the others.',
        since: row.pausedAt === null ? null : iso(row.pausedAt),
      }
    })
  const ended = drainsInMaintenance(tx).flatMap((row): Attention[] => {
    const { name } = named(tx, row.nodeId)
    const { failed = 0, waiting = 0 } = countsOf(tx, row.id)
    const since = iso(row.finishedAt!)
    const isLong = clock() - row.finishedAt! > LONG_MS
    if (!failed && !isLong) return []
    return [
      {
        ...at(row),
        level: 'warn',
        what: failed
          ? `${name} is not empty: ${count(failed + waiting, 'server')} did not move.`
          : `${name} is in maintenance for more than a day.`,
        effect: failed
          ? 'Drain it again, or stop what is left with a notice.'
          : 'It takes no servers. End the maintenance when its work is done.',
        since,
      },
    ]
  })
  const notBegun = failedDrainPlans(tx).map(({ nodeId, error }): Attention => {
    const { name } = named(tx, nodeId)
    return {
      level: 'bad',
      what: `The drain of ${name} did not begin at its time.`,
      effect: `${error} Start it, choose another time, or take it back.`,
      since: null,
      action: 'Open plan',
      href: `/admin/nodes/${nodeId}/drain`,
    }
  })
  const stopped = openRollings(tx)
    .filter(({ state }) => state === 'paused')
    .map(({ id, nodeIds, position, reason }): Attention => {
      const { name } = named(tx, nodeIds[position]!)
      return {
        level: 'bad',
        what: `Maintenance of ${count(nodeIds.length, 'node')} is paused at ${name}.`,
        effect: `${reason} No further node is emptied until you go on, or skip it.`,
        since: null,
        action: 'Open maintenance',
        href: `/admin/rolling-maintenance/${id}`,
      }
    })
  return [...notBegun, ...paused, ...stopped, ...ended].slice(0, MOST_SHOWN)
}
