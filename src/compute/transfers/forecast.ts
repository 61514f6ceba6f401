// How a server would move, for how long, and what its owner notices.
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { backupsOf } from '../backups/queries.ts'
import { isOnNodeOnly } from '../backups/reach.ts'
import type { Server } from '../server-records/model.ts'
import { estimate, limitOf } from './estimate.ts'
import { bytesOf, isEmpty } from './movable.ts'

/** How a move may be asked for. `auto`: while it runs, as far as that is possible. */
export const moveModes = ['auto', 'cold'] as const
export type MoveMode = (typeof moveModes)[number]
export const MOST_MBPS = 1_000_000

/** How a server would move to a node that fits; the same to each of them. */
export function forecast(
  tx: Db,
  target: Server,
  { mode: asked, maxMbps }: { mode: MoveMode; maxMbps: number | undefined },
) {
  const runs = target.power === 'running' && target.suspendedAt === null
  const mode = isEmpty(target) ? 'reassigned' : asked === 'auto' && runs ? 'near_live' : 'cold'
  const bytes = mode === 'reassigned' ? 0 : bytesOf(tx, target)
  const { seconds, downtimeMs } = estimate(tx, { mode, bytes, runs, maxMbps: limitOf(tx, maxMbps) })
  return {
    mode,
    bytes,
    expectedSeconds: seconds,
    expectedDowntimeMs: downtimeMs,
    changes: changesFor(tx, target, runs && mode !== 'reassigned'),
  } as const
}

/** Sentences for people. Addresses, firewall, speed and private networks stay, so they are not among them. */
function changesFor(tx: Db, target: Server, isRestarted: boolean): string[] {
  const stays = backupsOf(tx, target).filter((backup) => backup.state === 'ready' && isOnNodeOnly(tx, backup)).length
  return [
    ...(isRestarted ? ['It is shut down and started again; open consoles are closed.'] : []),
    ...(stays
      ? [
          `${count(stays, 'backup stays', 'backups stay')} in a folder of its node, where each can be restored as a ` +
            'new server.',
        ]
      : []),
  ]
}
