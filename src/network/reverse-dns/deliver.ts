// Tells the name server what is wanted. The rows are the queue: what is wanted last is told, again and again until the
// name server has it, also across restarts of the controller.
import type { AppContext } from '../../kernel/api/operation.ts'
import { hour, minute, second } from '../../kernel/db/clock.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import { NotTaken, nameServer, setPtr } from './name-server.ts'
import { noteDone, noteFailed, takeDue } from './queries.ts'

const AT_ONCE = 10
/** Longer than a call can take: after a crash the row is due again by then. */
const CLAIM_MS = minute
const pauses = [10 * second, 30 * second, 2 * minute, 10 * minute, hour]

/** One turn: tells the name server of the rows that are due, all at the same time. */
export async function tellNameServer(db: Db, app: Pick<AppContext, 'clock' | 'wallClock' | 'secrets' | 'config'>) {
  const server = nameServer(db, app.secrets)
  if (!server) return
  const due = write(db, (tx) => takeDue(tx, app.clock(), app.clock() + CLAIM_MS, AT_ONCE))
  await Promise.all(
    due.map(async (row) => {
      const failure = await setPtr(server, app, row.address, row.name).then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof NotTaken) return error
          throw error
        },
      )
      write(db, (tx) => {
        const now = app.clock()
        if (!failure) return noteDone(tx, row, now)
        noteFailed(tx, row, {
          state: failure.permanent ? 'refused' : 'waiting',
          error: failure.message,
          nextAt: now + pauses[Math.min(row.tries, pauses.length - 1)]!,
          now,
        })
      })
    }),
  )
}
