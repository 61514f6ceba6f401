// Starts the jobs of servers that wait, within the limits of their import, and ends imports whose servers have all come
// to an end. A server that is refused has failed, and never stops the others.
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { type Db, savepoint, type Tx, write } from '../../kernel/db/open.ts'
import { log } from '../../kernel/log.ts'
import { Slices } from '../../kernel/slices.ts'
import { count } from '../../kernel/words.ts'
import { hypervisorRows, importServerById } from '../import-records/inventory/queries.ts'
import type { ImportRecord } from '../import-records/model.ts'
import {
  changeMove,
  type ImportMove,
  importsMigrating,
  moveOf,
  moveStateCounts,
  movesAtWork,
  waitingMoves,
} from '../import-records/moves/queries.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { addressOf } from '../source-access/hosts.ts'
import { CannotMove, explained } from './failures.ts'
import { beginMove } from './plan/begin.ts'
import { isWithin } from './window.ts'

/** Of one import, so many that wait are looked at in one turn; the others at the next. */
const MOST_LOOKED_AT = 200
/** The node that would take it has as many at work as it may. Its turn comes later. */
class NodeIsFull extends Error {}

export class Dispatcher {
  private turning = false

  /** Begins what may begin, and ends what has ended. One turn at a time. */
  async turn(db: Db, app: AppContext): Promise<void> {
    if (this.turning) return
    this.turning = true
    try {
      const slices = new Slices()
      for (const id of importsMigrating(db)) {
        await beginWaiting(db, app, id, slices)
        write(db, (tx) => endIfOver(tx, app, id))
      }
    } finally {
      this.turning = false
    }
  }
}

declare module '../../kernel/register.ts' {
  interface Services {
    importDispatcher: Dispatcher
  }
}

const mayBegin = ({ pausedAt, limits, status }: ImportRecord, now: number) =>
  status === 'migrating' && pausedAt === null && (limits.window === null || isWithin(limits.window, now))

async function beginWaiting(db: Db, app: AppContext, importId: string, slices: Slices): Promise<void> {
  const row = importById(db, importId)
  if (!row || !mayBegin(row, app.clock())) return
  for (const { serverId } of waitingMoves(db, row, MOST_LOOKED_AT)) {
    const mayGoOn = write(db, (tx) => {
      const target = importById(tx, importId)
      const move = moveOf(tx, serverId)
      if (!target || !mayBegin(target, app.clock()) || target.stopsAfter !== row.stopsAfter) return false
      if (move?.state === 'waiting') tryToBegin(tx, app, target, move)
      return true
    })
    if (!mayGoOn) return
    if (slices.isOver) await slices.rest()
  }
}

/** Hypervisors are the same machine in two imports where they have the same address. */
function machineOf(tx: Tx, importId: string, hypervisorId: string): string {
  const row = hypervisorRows.find(tx, importId, hypervisorId)
  return (row && addressOf(row)) ?? `${importId} ${hypervisorId}`
}

function tryToBegin(tx: Tx, app: AppContext, target: ImportRecord, move: ImportMove) {
  const { perHypervisor, perNode } = target.limits
  const atWork = movesAtWork(tx)
  const machine = machineOf(tx, target.id, move.hypervisorId)
  const leaving = atWork
    .filter((one) => machineOf(tx, one.importId, one.hypervisorId) === machine)
    .reduce((sum, { n }) => sum + n, 0)
  if (leaving >= perHypervisor) return
  const onNode = (nodeId: string) => atWork.filter((one) => one.nodeId === nodeId).reduce((sum, { n }) => sum + n, 0)
  try {
    savepoint(tx, () => {
      const nodeId = beginMove({ ...app, tx, target }, move)
      if (onNode(nodeId) >= perNode) throw new NodeIsFull()
    })
  } catch (error) {
    if (error instanceof NodeIsFull) return
    // A node that comes back in a moment is waited for.
    if (error instanceof ApiError && error.code === 'restarting') return
    refuse(tx, app, target, move, error)
  }
}

/** Nothing of it was touched. */
function refuse(tx: Tx, app: AppContext, target: ImportRecord, move: ImportMove, error: unknown) {
  const isKnown = error instanceof CannotMove || error instanceof ApiError
  if (!isKnown) log.error('a server could not be imported', { server: move.serverId, error })
  const failure = isKnown
    ? explained({ code: error.code, message: error.message })
    : { failure: 'internal_error', failureWords: 'Berth itself has a fault. The journal says more.' }
  changeMove(tx, move.serverId, { ...failure, state: 'failed', failedAt: app.clock(), whereItRuns: 'source' })
  const hostname = importServerById(tx, move.serverId)?.hostname ?? move.serverId
  noteIn(tx, target.id, app.clock(), 'warning', `${hostname} was not touched. ${failure.failureWords}`)
}

/** Where nothing moves and nothing begins any more, the import waits for a person to look at what has moved. */
function endIfOver(tx: Tx, app: AppContext, importId: string) {
  const row = importById(tx, importId)
  if (row?.status !== 'migrating') return
  const { waiting = 0, moving = 0, rolling_back = 0, moved = 0, failed = 0 } = moveStateCounts(tx, importId)
  if (moving + rolling_back > 0 || waitingMoves(tx, row, 1).length) return
  const now = app.clock()
  changeImport(tx, importId, { status: 'verifying', migratedAt: now, pausedAt: null })
  const stay = waiting ? `, ${count(waiting, 'server')} not begun` : ''
  const words = `${count(moved, 'server')} moved, ${failed} failed${stay}.`
  noteIn(tx, importId, now, failed ? 'warning' : 'info', words)
}
