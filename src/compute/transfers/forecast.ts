// How a server would move, for how long, and what its owner notices.
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { backupsOf } from '../backups/queries.ts'
import { isOnNodeOnly } from '../backups/reach.ts'
import type { Server } from '../server-records/model.ts'
import { estimate, limitOf } from './estimate.ts'
import { againstLive } from './job/live.ts'
import { bytesOf, copiedTo, isEmpty } from './movable.ts'
import { fits, type JudgedNode } from './nodes.ts'
import type { TransferMode } from './tables.ts'

/** How a move may be asked for. `auto`: while it runs, as far as nothing speaks against it. */
export const moveModes = ['auto', 'live', 'near_live', 'cold'] as const
export type MoveMode = (typeof moveModes)[number]
export const MOST_MBPS = 1_000_000
const MIB = 1024 ** 2

/** The first node that fits; for a live move the first to which that is possible, if there is one. */
export function chooseFrom(tx: Db, target: Server, judged: readonly JudgedNode[], mode: MoveMode = 'auto') {
  const fitting = judged.filter(fits)
  const forLive = mode === 'live' && fitting.find(({ nodeId }) => wayTo(tx, target, mode, nodeId).mode === 'live')
  return forLive || fitting[0]
}

/** How it would move to this node; undefined: to any that fits. */
export function wayTo(tx: Db, target: Server, asked: MoveMode, to: string | undefined, isRestarted = false) {
  if (isEmpty(target)) return { mode: 'reassigned', notLive: null, standsStill: false } as const
  const against = isRestarted
    ? { words: 'it gets new addresses, for which it is restarted', mayAsk: false }
    : to === undefined
      ? undefined
      : againstLive(tx, target, to)
  const notLive = against?.words ?? null
  if (!runs(target) || asked === 'cold') return { mode: 'cold', notLive, standsStill: false } as const
  const isLive = asked === 'live' ? against === undefined || against.mayAsk : asked === 'auto' && against === undefined
  return { mode: isLive ? 'live' : 'near_live', notLive, standsStill: isLive && against !== undefined } as const
}
const runs = ({ power, suspendedAt }: Server) => power === 'running' && suspendedAt === null

type Wanted = { mode: MoveMode; maxMbps: number | undefined; to?: string | undefined; isRestarted?: boolean }
/** How a server would move. */
export function forecast(tx: Db, target: Server, { mode: asked, maxMbps, to, isRestarted }: Wanted) {
  const { mode, notLive, standsStill } = wayTo(tx, target, asked, to, isRestarted)
  const { bytes, copied, stays } =
    mode === 'reassigned'
      ? { bytes: 0, copied: 0, stays: 0 }
      : to === undefined
        ? { bytes: bytesOf(tx, target), copied: 1, stays: 0 }
        : copiedTo(tx, target, to)
  const { seconds, downtimeMs } = estimate(tx, {
    ...{
      mode,
      bytes,
      memoryBytes: target.memoryMb * MIB,
      runs: runs(target),
      maxMbps: limitOf(tx, maxMbps),
      standsStill,
    },
  })
  return {
    mode,
    notLive,
    bytes,
    sharedStorage: sharedWords(stays, copied),
    expectedSeconds: seconds,
    expectedDowntimeMs: downtimeMs,
    changes: changesFor(tx, target, mode),
  } as const
}

/** A sentence for people about disks that need no copy; null: all are copied. */
function sharedWords(stays: number, copied: number): string | null {
  if (stays === 0) return null
  if (copied === 0) return 'Both nodes reach the storage of its disks: nothing is copied.'
  const others = count(copied, 'other one is', 'others are')
  return `Both nodes reach the storage of ${count(stays, 'disk', 'disks')}: only ${others} copied.`
}

/** Sentences for people. Addresses, firewall, speed and private networks stay, so they are not among them. */
function changesFor(tx: Db, target: Server, mode: TransferMode): string[] {
  const stays = backupsOf(tx, target).filter((backup) => backup.state === 'ready' && isOnNodeOnly(tx, backup)).length
  return [
    ...(mode === 'live' ? ['It stands still for a moment; open consoles are closed.'] : []),
    ...(runs(target) && (mode === 'near_live' || mode === 'cold')
      ? ['It is shut down and started again; open consoles are closed.']
      : []),
    ...(stays
      ? [
          `${count(stays, 'backup stays', 'backups stay')} in a folder of its node, where each can be restored as a ` +
            'new server.',
        ]
      : []),
  ]
}
