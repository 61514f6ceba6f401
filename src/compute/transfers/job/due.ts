// Moves that wait for a time. Nothing is held for one before: when its time has come it is planned from what was asked
// for, as if somebody asked then. What refuses it may pass, such as a backup at work, so it is tried again for an hour.
import { system } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { hour } from '../../../kernel/db/clock.ts'
import { savepoint, type Tx, write } from '../../../kernel/db/open.ts'
import type { ScheduleContext } from '../../../kernel/feature.ts'
import { load } from '../../server-records/model.ts'
import { tell } from '../model.ts'
import { changeTransfer, dueMoves, isWaitingForTime, transferById } from '../queries.ts'
import type { Transfer } from '../tables.ts'
import { beginMove } from './begin.ts'

const TRIED_FOR_MS = hour
const LATE = 'The panel was not running at its time.'

export function beginDue({ db, app }: Pick<ScheduleContext, 'db' | 'app'>) {
  const now = app.clock()
  for (const { id } of dueMoves(db, now))
    write(db, (tx) => {
      const waiting = transferById(tx, id)!
      if (!isWaitingForTime(waiting)) return
      if (load(tx, waiting.serverId).terminatedAt !== null)
        return changeTransfer(tx, id, { state: 'cancelled', error: 'The server was terminated.', finishedAt: now })
      const isOver = now > waiting.startsAt! + TRIED_FOR_MS
      const refusal = isOver ? (waiting.error ?? LATE) : refusalOf(tx, app, waiting)
      if (refusal === undefined) return
      if (isOver) fail(tx, waiting, refusal, now)
      else if (refusal !== waiting.error) changeTransfer(tx, id, { error: refusal })
    })
}

/** Begins it. The words of what refuses it now; undefined where it has begun. */
function refusalOf(tx: Tx, app: ScheduleContext['app'], waiting: Transfer): string | undefined {
  const target = load(tx, waiting.serverId)
  try {
    savepoint(tx, () => beginMove({ ...app, tx, actor: system, target, body: waiting.asked!, waiting }))
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}

function fail(tx: Tx, { id }: Transfer, error: string, now: number) {
  changeTransfer(tx, id, { state: 'failed', error, finishedAt: now })
  tell(tx, now, transferById(tx, id)!, { type: 'transfer.failed', error })
}
