// Changes of one turn of the event loop reach the disk together.
import { isDatabaseError } from './health.ts'
import { type Db, prepared, savepoint, type Tx, write } from './open.ts'

type Gathered = { work(tx: Tx): unknown; resolve(value: any): void; reject(error: unknown): void }

/** Changes that wait for the end of this turn of the event loop. */
const gatheredIn = prepared((): Gathered[] => [])

/** One transaction takes changes along for this long, so that reads do not wait longer, in ms. */
const GATHERING_MS = 10

/**
 * `write` in one transaction with the other changes of this turn of the event loop: together they cost one flush. Each
 * change is a savepoint, so what one throws takes back nothing of another. Resolves with what `work` answered when it
 * is on disk, and in the replica where changes wait for that; rejects with what `work` threw, or with
 * `DatabaseUnavailable`.
 */
export function writeTogether<T>(
  db: Parameters<typeof write>[0],
  work: (tx: Tx) => T extends Promise<unknown> ? never : T,
): Promise<T> {
  const gathered = gatheredIn(db)
  return new Promise<T>((resolve, reject) => {
    if (!gathered.length) setImmediate(() => writeGathered(db))
    gathered.push({ work, resolve, reject })
  })
}

/** Thrown to roll back a transaction in which every change was refused: there is nothing to flush. */
class NothingChanged extends Error {}

function writeGathered(db: Db) {
  const { $client } = db
  const all = gatheredIn(db)
  if (!all.length) return
  const taken: { change: Gathered; settle(): void }[] = []
  const until = performance.now() + GATHERING_MS
  let accepted = 0
  const settleAll = () => {
    for (const { settle } of taken) settle()
  }
  const rejectAll = (error: unknown) => {
    for (const { change } of taken) change.reject(error)
  }
  try {
    write(db, (tx) => {
      do {
        const change = all.shift()!
        const { work, resolve, reject } = change
        taken.push({ change, settle: () => {} })
        try {
          const made = savepoint(tx, () => work(tx))
          taken.at(-1)!.settle = () => resolve(made)
          accepted++
        } catch (error) {
          // It is no refusal of this change alone: the whole transaction is rolled back.
          if (isDatabaseError(error) || !$client.inTransaction) throw error
          taken.at(-1)!.settle = () => reject(error)
        }
      } while (all.length && performance.now() < until)
      if (!accepted) throw new NothingChanged()
    })
    if ($client.confirmed) $client.confirmed().then(settleAll, rejectAll)
    else settleAll()
  } catch (error) {
    if (error instanceof NothingChanged) settleAll()
    else if (taken.length) rejectAll(error)
    else all.shift()!.reject(error)
  }
  if (all.length) setImmediate(() => writeGathered(db))
}
